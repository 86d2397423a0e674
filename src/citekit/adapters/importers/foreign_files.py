"""Reads the files that importers need with compiled parsers: the pages of PDFs, and Parquet tables."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

from citekit.domain.errors import RequestRefused

SIZE_LIMIT = 32_000_000
"""The maximum size in bytes of a text file, or in characters of a document, to be searched."""


class ForeignFiles(Protocol):
    """A reader of PDF pages and Parquet tables for importers."""

    def pages(self, path: Path) -> Sequence[tuple[str, str]]:
        """Return the label (or number) and the text of each page of a PDF, in Unicode form NFKC without whitespace.

        Raise `RequestRefused` if the texts have more than `SIZE_LIMIT` characters in total, or `SourceUnreadable` or
        `SourceUnsupported` if the PDF cannot be read.
        """

    def rows(self, path: Path, columns: Collection[str]) -> Sequence[dict[str, object]]:
        """Return the rows of a Parquet file, with those of `columns` that exist. Values that `plain` does not keep
        become None.

        Raise `DriverMissing` if PyArrow is not installed, `SourceUnreadable` if the file cannot be read, or
        `FaultyAnswer` if it is damaged, unsupported, or too large.
        """


@frozen
class DriverForeignFiles:
    """A `ForeignFiles` that reads in this process, with PyMuPDF and PyArrow."""

    def pages(self, path: Path) -> list[tuple[str, str]]:
        """See `ForeignFiles.pages`."""
        from citekit.adapters.formats.pdf.document.text import page_text
        from citekit.adapters.libraries.mupdf.engine import UNLOCK, give_way, opened

        pages: list[tuple[str, str]] = []
        size = 0
        with opened(path, locked=UNLOCK) as document:
            for number in range(1, document.page_count + 1):
                page = document[number - 1]
                text = "".join(unicodedata.normalize("NFKC", page_text(page)).split())
                pages.append((page.get_label() or str(number), text))
                size += len(text)
                check_size(path, size)
                give_way()
        return pages

    def rows(self, path: Path, columns: Collection[str]) -> list[dict[str, object]]:
        """See `ForeignFiles.rows`."""
        from citekit.adapters.libraries.pyarrow import read_rows

        return [{name: plain(value) for name, value in row.items()} for row in read_rows(path, columns)]


def check_size(path: Path, size: int) -> None:
    """Raise `RequestRefused` if `size`, the length of the text of `path`, is too large to search."""
    if size > SIZE_LIMIT:
        raise RequestRefused(f"{path} is too long to search. Omit the source (--source).")


def plain(value: Any) -> Any:
    """Return a table value as JSON data, or None for types such as bytes and times."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float) else None
