"""Reads the pages of PDFs and pictures that are sent to a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from attrs import frozen

from citekit.domain.progress import Progress, silent

SIDE_LIMIT = 2048
"""The maximum length in pixels of the longer side of a rendered picture."""

PAGE_CHARACTERS = 20_000
"""The maximum number of characters of one page that are sent."""


class Viewer(Protocol):
    """Reads PDFs and pictures for a model. Its methods raise the errors of opening such a file."""

    def page_lines(self, path: Path, progress: Progress = silent) -> Sequence[Sequence[str]]:
        """Return the lines of text on each page of a PDF."""

    def page_texts(self, path: Path, progress: Progress = silent) -> Sequence[str]:
        """Return the text of each page of a PDF, at most `PAGE_CHARACTERS` characters per page."""

    def paged_text(self, path: Path) -> str:
        """Return the text of a whole PDF with a line `[page N]` before each page; "" if no page has text."""

    def cut_pages(self, path: Path, first: int, last: int, target: Path, progress: Progress = silent) -> None:
        """Write the pages `first` to `last` (1-based, inclusive) of a PDF to the new PDF `target` in a temporary
        folder.
        """

    def is_upright(self, path: Path) -> bool:
        """Return whether a picture is stored upright (its EXIF orientation requires no rotation)."""

    def picture(self, path: Path, side: int) -> tuple[bytes, str]:
        """Return an upright copy of a picture, at most `side` pixels long and wide, and its type: `image/png` or
        `image/jpeg`.
        """


@frozen
class FileViewer:
    """Reads PDFs and pictures in this process with PyMuPDF and Pillow."""

    def page_lines(self, path: Path, progress: Progress = silent) -> list[list[str]]:
        """See `Viewer.page_lines`."""
        from citekit.adapters.formats.pdf.document.text import page_lines
        from citekit.adapters.libraries.mupdf.engine import UNLOCK, give_way, opened

        pages: list[list[str]] = []
        with opened(path, locked=UNLOCK) as document:
            for number in range(document.page_count):
                progress(number, document.page_count, "reading pages to find titles")
                pages.append([line.text for line in page_lines(document[number])])
                give_way()
        return pages

    def page_texts(self, path: Path, progress: Progress = silent) -> list[str]:
        """See `Viewer.page_texts`."""
        from citekit.adapters.formats.pdf.document.text import page_text
        from citekit.adapters.libraries.mupdf.engine import UNLOCK, give_way, opened

        texts: list[str] = []
        with opened(path, locked=UNLOCK) as document:
            for number in range(document.page_count):
                progress(number, document.page_count, "reading pages")
                texts.append(page_text(document[number])[:PAGE_CHARACTERS])
                give_way()
        return texts

    def paged_text(self, path: Path) -> str:
        """See `Viewer.paged_text`."""
        from citekit.adapters.formats.pdf.document.text import paged_text

        return paged_text(path)

    def cut_pages(self, path: Path, first: int, last: int, target: Path, progress: Progress = silent) -> None:
        """See `Viewer.cut_pages`."""
        from citekit.adapters.libraries.mupdf.engine import UNLOCK, opened

        with opened(path, locked=UNLOCK) as document:
            progress(first, document.page_count, f"extracting pages {first}-{last}")
            document.xref_set_key(document.pdf_catalog(), "Outlines", "null")
            document.select(range(first - 1, last))
            document.save(str(target), garbage=3, deflate=True)

    def is_upright(self, path: Path) -> bool:
        """See `Viewer.is_upright`."""
        from citekit.adapters.libraries.pillow import open_image, orientation

        with open_image(path) as picture:
            return orientation(picture) == 1

    def picture(self, path: Path, side: int) -> tuple[bytes, str]:
        """See `Viewer.picture`."""
        from citekit.adapters.formats.image.page_views import reduced_picture

        found = reduced_picture(path, side, side)
        return found.data, found.media_type
