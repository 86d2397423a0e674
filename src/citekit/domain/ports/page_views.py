"""Defines the port that prepares files for a viewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.formats import Format
from citekit.domain.page_view import PagePicture, PageSize, PageWord, SheetRow
from citekit.domain.source import Source


class PageViews(Protocol):
    """Draws the pages of documents, comics, and images, shows slides, HTML files, and SVG files as HTML documents,
    reads workbooks, and measures recordings. Thread-safe.

    Pages are numbered from 1. An image has one page, but a TIFF file can have several. The methods that read a file
    raise `SourceUnsupported` for files of other formats and for damaged files, `SourceUnreadable` if a file cannot be
    read, and `LocationOutside` for a page that does not exist.
    """

    def supports(self, format: Format) -> bool:
        """Return whether files of this format have pages that can be drawn."""

    def sizes(self, source: Source) -> Sequence[PageSize]:
        """Return the size of each page."""

    def picture(self, source: Source, page: int, width: int) -> PagePicture:
        """Return an upright picture of a page, about `width` pixels wide.

        The picture is narrower if the page is very long, or if the file contains only a smaller picture.
        """

    def words(self, source: Source, page: int) -> Sequence[PageWord]:
        """Return the words of a page that readers see, in the order of the file."""

    def rows(self, source: Source, sheet: str) -> Sequence[SheetRow]:
        """Return the rows of a sheet that have cells, in order, with the texts of cells that readers see.

        Raise `LocationOutside` if the workbook has no such sheet.
        """

    def document(self, source: Source, page: int) -> str:
        """Return a slide of a presentation, or an HTML or SVG file, whose only page is 1, as an HTML document.

        Nothing in it is executed or loaded. In an HTML file, a line marker, U+FDD0 and the digits of the line number as
        U+FDE0 to U+FDE9, precedes each piece of text. Raise `FormUnsupported` if the file is too large to be shown.
        """

    def waveform(self, source: Source, count: int) -> Sequence[int]:
        """Return up to `count` amplitudes from 0 to 255, evenly spaced over a recording; none if it has no sound."""
