"""Reads the files that importers need with compiled parsers: pages of PDFs, and tables in Parquet."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

from citekit.domain.errors import RequestRefused

SIZE_LIMIT = 32_000_000
"""The maximum size in bytes of a text file, and in characters of a document, in which text units are searched."""


class ForeignFiles(Protocol):
    """Reads files for importers."""

    def pages(self, path: Path) -> Sequence[tuple[str, str]]:
        """The label of each page of a PDF, and its text without whitespace, in the Unicode form NFKC.

        Raises `RequestRefused` if the texts are longer than `SIZE_LIMIT`, `SourceUnreadable`, `SourceUnsupported`.
        """

    def rows(self, path: Path, columns: Collection[str]) -> Sequence[dict[str, Any]]:
        """The rows of a Parquet file, with those of `columns` that exist. Values that JSON cannot represent are None.

        Raises `DriverMissing`, `SourceUnreadable`, `FaultyAnswer`.
        """


@frozen
class DriverForeignFiles:
    """Reads the files in this process, with PyMuPDF and PyArrow."""

    def pages(self, path: Path) -> list[tuple[str, str]]:
        """See `ForeignFiles.pages`."""
        from citekit.adapters.formats.pdf.document.text import page_text
        from citekit.adapters.libraries.mupdf.engine import give_way, opened

        pages: list[tuple[str, str]] = []
        size = 0
        with opened(path) as document:
            for number in range(1, document.page_count + 1):
                page = document[number - 1]
                text = "".join(unicodedata.normalize("NFKC", page_text(page)).split())
                pages.append((page.get_label() or str(number), text))
                size += len(text)
                check_size(path, size)
                give_way()
        return pages

    def rows(self, path: Path, columns: Collection[str]) -> list[dict[str, Any]]:
        """See `ForeignFiles.rows`."""
        from citekit.adapters.libraries.pyarrow import read_rows

        return [{name: plain(value) for name, value in row.items()} for row in read_rows(path, columns)]


def check_size(path: Path, size: int) -> None:
    """Raises `RequestRefused` if a text is too long to search."""
    if size > SIZE_LIMIT:
        raise RequestRefused(f"{path} is too long to search for passages. Omit --source.")


def plain(value: Any) -> Any:
    """A value of a table as JSON data; None for others, such as bytes and times, which no importer uses."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float) else None
