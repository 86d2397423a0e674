"""What is opened by a compiled parser to make a map of foreign structure: the pages of a PDF, and tables in Parquet."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

from citekit.domain.errors import RequestRefused

SIZE_LIMIT = 32_000_000
"""Bytes of the longest text file, and characters of the longest document, in which passages are looked for."""


class ForeignFiles(Protocol):
    """Opens them."""

    def pages(self, path: Path) -> Sequence[tuple[str, str]]:
        """The label of each page of a PDF, and its text without whitespace, in the form NFKC of Unicode.

        Raises `RequestRefused` where the texts are longer than `SIZE_LIMIT`, `SourceUnreadable`, `SourceUnsupported`.
        """

    def rows(self, path: Path, columns: Collection[str]) -> Sequence[dict[str, Any]]:
        """The rows of a Parquet file, with those of `columns` that it has: plain data as JSON knows it, else None.

        Raises `DriverMissing`, `SourceUnreadable`, `FaultyAnswer`.
        """


@frozen
class DriverForeignFiles:
    """Opens them in this process, by PyMuPDF and PyArrow."""

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
    """Raises `RequestRefused` where a text is too long to look for passages in."""
    if size > SIZE_LIMIT:
        raise RequestRefused(f"{path} is too long to look for passages in. Leave --source out.")


def plain(value: Any) -> Any:
    """A value of a table as JSON knows it; None for any other, such as bytes and times, which no adapter reads."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value if isinstance(value, str | int | float) else None
