"""Detects scanned pages, and recognizes their text with OCR. The text is cached under the picture of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from citekit.adapters.formats.pdf.document.graphics import may_draw, page_graphics
from citekit.adapters.formats.shared.ocr import OcrLine, store_lines, stored_lines
from citekit.adapters.libraries.mupdf.engine import Document, away, empty_store, exclusive
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Box

if TYPE_CHECKING:
    from PIL.Image import Image

    from citekit.adapters.formats.shared.ocr import OcrReader
    from citekit.adapters.libraries.sqlite.key_value_cache import Index

RESOLUTION = 160
"""Dots per inch of pages rendered for OCR."""

RENDER_PIXEL_LIMIT = 12_000_000
"""The largest number of pixels of a rendered page; larger pages are rendered at a lower resolution."""

IMAGE_PIXEL_LIMIT = 250_000_000
"""The largest number of pixels of an image on a page that is rendered; decoding a larger image needs gigabytes."""

SCAN_PIXELS = 100_000
"""The minimum total number of pixels of the images of a scanned page."""

PAGES_LEAST, BYTES_PER_PAGE = 40, 2_000
"""OCR reads at most `PAGES_LEAST` pages of a file, plus one for every `BYTES_PER_PAGE` bytes of the file.

Pages whose lines are cached do not count. The limit bounds the time that a small hostile file with thousands of pages
can take.
"""

_COVERED_SHARE = 0.7
"""The minimum share of a scanned page that its pictures cover."""

_MIN_CONFIDENCE = 0.5
"""The lowest OCR confidence of a line that is used."""

_PARAGRAPH_GAP = 0.6
"""The smallest gap between two paragraphs, as a multiple of the height of the line above the gap."""


def is_scan(page: Any) -> bool:
    """Return whether pictures cover most of `page` and it draws no visible text.

    The invisible text layer over a scan does not count. A page that is damaged, or whose content is longer than
    `graphics.CONTENT_LIMIT`, is not a scan.
    """
    try:
        with exclusive():
            if not may_draw(page):
                return False
            drawn, visible = page_graphics(page, text=True)
            whole = float(page.rect.width * page.rect.height)
    except CiteKitError:
        raise
    except Exception:  # PyMuPDF raises exceptions of any kind for a damaged page
        return False
    covered = sum(max(0.0, each.right - each.left) * max(0.0, each.bottom - each.top) for each in drawn if each.picture)
    return not visible and covered >= _COVERED_SHARE * whole


def is_blank_scan(document: Document, number: int) -> bool:
    """Return whether the page with the 1-based `number` is a scan of at least `SCAN_PIXELS` pixels.

    Raise `PageWorkError` if the page is too complex.
    """
    with exclusive():
        try:
            pixels = sum(image[2] * image[3] for image in document.get_page_images(number - 1))
        except Exception:  # PyMuPDF raises exceptions of any kind for a damaged page
            return False
        return pixels >= SCAN_PIXELS and is_scan(document[number - 1])


@frozen
class RecognizedPage:
    """The picture of a scanned page and the lines of text that OCR recognized in it.

    `width` and `height` are those of the displayed page, in points.
    """

    image: Image
    width: float
    height: float
    lines: Sequence[OcrLine]

    @property
    def text(self) -> str:
        """The lines in reading order, with an empty line between paragraphs."""
        text: list[str] = []
        previous: Box | None = None
        for line in self.lines:
            if previous is not None:
                gap = line.box.y1 - previous.y2
                height = previous.y2 - previous.y1
                text.append("\n" if -height < gap < _PARAGRAPH_GAP * height else "\n\n")
            text.append(" ".join(line.text.split()))
            previous = line.box
        return "".join(text)


@define
class PageRecognizer:
    """Recognizes the text of the scanned pages of one file.

    The size of the file in bytes limits the number of pages that OCR reads. `index` caches the lines of each page, so
    that an interrupted run continues where it stopped; with None, nothing is cached.
    """

    reader: OcrReader
    size: int
    index: Index | None = None
    _left: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._left = PAGES_LEAST + self.size // BYTES_PER_PAGE

    @property
    def is_spent(self) -> bool:
        """Whether the limit on the number of pages has been reached."""
        return self._left <= 0

    def page(self, document: Document, number: int) -> RecognizedPage | None:
        """Return the recognized text of the page with the 1-based `number`.

        Return None if the page cannot be rendered or `is_spent`. Raise `MapperUnavailable` if OCR fails. Call this
        method inside `exclusive()` or `opened()`; the PyMuPDF lock is released during OCR (see `away`).
        """
        if self.is_spent:
            return None
        with exclusive():
            drawn = _render(document, number)
        if drawn is None:
            return None
        image, width, height = drawn
        with away():
            lines = self._lines(image)
        return RecognizedPage(image, width, height, lines)

    def _lines(self, image: Image) -> list[OcrLine]:
        stored = stored_lines(self.index, image)
        if stored is not None:
            return stored
        self._left -= 1
        lines = [line for line in self.reader.lines(image) if line.score >= _MIN_CONFIDENCE and line.text.strip()]
        store_lines(self.index, image, lines)
        return lines


def _render(document: Document, page: int) -> tuple[Image, float, float] | None:
    """Return an image of the displayed page, and the page's width and height in points; None if it cannot be rendered."""
    from PIL import Image

    try:
        if any(image[2] * image[3] > IMAGE_PIXEL_LIMIT for image in document.get_page_images(page - 1)):
            return None
        empty_store()  # an image that was decoded at another size is drawn slightly differently
        shown = document[page - 1]
        width, height = max(shown.rect.width, 1.0), max(shown.rect.height, 1.0)
        zoom = min(RESOLUTION / 72, (RENDER_PIXEL_LIMIT / (width * height)) ** 0.5)
        with exclusive() as pymupdf:
            pixels = shown.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
    except CiteKitError:
        raise
    except Exception:  # PyMuPDF raises exceptions of any kind for a damaged page
        return None
    return Image.frombytes("RGB", (pixels.width, pixels.height), bytes(pixels.samples)), width, height
