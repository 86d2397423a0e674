"""Detects scanned pages and reads their text with OCR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.graphics import may_draw, page_graphics
from citekit.adapters.formats.pdf.outline.glyph_metrics import join_numbers, measure_glyphs
from citekit.adapters.formats.pdf.outline.headers_footers import SAMPLE_SIZE
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.scan_styles import OcrPage, styled_pages
from citekit.adapters.formats.pdf.outline.structure import is_incomplete, sections_of_text
from citekit.adapters.formats.shared.ocr import OcrReader
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.libraries.mupdf.engine import Document, away, empty_store, exclusive
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Pages

OCR_PAGES = 40
"""The number of scanned pages that OCR reads, at some seconds each."""

RESOLUTION = 160
"""Dots per inch of pages rendered for OCR."""

RENDER_PIXEL_LIMIT = 12_000_000
"""The largest number of pixels of a rendered page; larger pages are rendered at a lower resolution."""

IMAGE_PIXEL_LIMIT = 250_000_000
"""The largest number of pixels of an image in the page; decoding a larger one needs gigabytes."""

SCAN_PIXELS = 100_000
"""The number of pixels that the images of a page need for it to be a scan."""

_COVERED_SHARE = 0.7
"""The share of a page that its image must cover."""

_MIN_CONFIDENCE = 0.5
"""The lowest OCR confidence of a line that is used."""


@frozen
class Scans:
    """The 1-based numbers of scanned pages: those without any text, and those with an invisible OCR text layer."""

    without_text: frozenset[int] = frozenset()
    with_text_layer: frozenset[int] = frozenset()

    @property
    def pages(self) -> frozenset[int]:
        """The 1-based numbers of all scanned pages."""
        return self.without_text | self.with_text_layer

    def notes(self, page_count: int, reads: bool) -> list[str]:
        """Return notes about the scans for the map. `reads` is true if OCR reads the pages without text."""
        notes = []
        if self.without_text:
            hint = "" if reads else " Their text is not read: that needs the extra 'ocr'."
            notes.append(f"{_count(len(self.without_text), page_count)} without text.{hint}")
        if self.with_text_layer:
            notes.append(
                f"{_count(len(self.with_text_layer), page_count)} with text that was recognised before; it is used."
            )
        return notes


def _count(number: int, page_count: int) -> str:
    if number == page_count:
        return "The page is a scan" if number == 1 else f"All {number} pages are scans"
    return f"1 of {page_count} pages is a scan" if number == 1 else f"{number} of {page_count} pages are scans"


def find_scans(document: Document, texts: PageTexts) -> Scans:
    """Return the scanned pages among the cached pages of `texts`.

    Only pages with large images are checked. If a sample of these has no scan, the rest is not checked.
    """
    candidates = [page for page in range(1, texts.count + 1) if texts.cached(page) and _has_large_images(texts, page)]
    step = max(1, len(candidates) // SAMPLE_SIZE)
    if not any(_is_scan(document, texts, page) for page in candidates[::step]):
        return Scans()
    scans = [page for page in candidates if _is_scan(document, texts, page)]
    return Scans(
        frozenset(page for page in scans if not texts.read(page)), frozenset(page for page in scans if texts.read(page))
    )


def _has_large_images(texts: PageTexts, page: int) -> bool:
    """Return whether the images of a page together have enough pixels for a scan."""
    return sum(image.width * image.height for image in texts.images(page)) >= SCAN_PIXELS


def _is_scan(document: Document, texts: PageTexts, page: int) -> bool:
    texts.report_progress()
    try:
        with exclusive():
            shown = document[page - 1]
            if not may_draw(shown):
                return False
            drawn, visible = page_graphics(shown, text=True)
            whole = float(shown.rect.width * shown.rect.height)
    except CiteKitError:
        raise
    except Exception:  # a damaged page is no scan; what PyMuPDF raises then is of any kind
        return False
    covered = sum(max(0.0, each.right - each.left) * max(0.0, each.bottom - each.top) for each in drawn if each.picture)
    return not visible and covered >= _COVERED_SHARE * whole


def mark_scans(outline_items: Sequence[OutlineItem], scans: Scans) -> tuple[OutlineItem, ...]:
    """Return `outline_items` (groups of pages), with a new type for those that contain only scanned pages.

    The type is `scan` for a single page and `scans` for several.
    """
    return tuple(_mark(outline_item, scans.pages) for outline_item in outline_items)


def _mark(outline_item: OutlineItem, pages: frozenset[int]) -> OutlineItem:
    assert isinstance(outline_item.location, Pages)
    if not pages.issuperset(outline_item.location.numbers):
        return outline_item
    return evolve(outline_item, type="scan" if len(outline_item.location.numbers) == 1 else "scans")


def read_scans(document: Document, texts: PageTexts, scans: Scans, ocr: OcrReader) -> list[str]:
    """Read the first `OCR_PAGES` scans without text with `ocr`, replace their lines in `texts`, and return notes.

    Raise the same errors as `ocr`.
    """
    pages = {}
    for page in sorted(scans.without_text)[:OCR_PAGES]:
        found = _read_page(document, page, ocr)
        if found is not None:
            pages[page] = found
    for page, lines in styled_pages(pages).items():
        texts.replace_lines(page, lines)
    notes = [f"The text of {len(pages)} scans was read by a machine, and may be wrong in places."] if pages else []
    if len(scans.without_text) > OCR_PAGES:
        notes.append(f"Only the first {OCR_PAGES} scans were read.")
    return notes


def sections_of_scans(texts: PageTexts) -> tuple[list[Section], bool]:
    """Return the same result as `sections_of_text`, for pages that were read by OCR.

    Because OCR misses some numbers of a printed TOC, an incomplete TOC is ignored (see `is_incomplete`).
    """
    promised, printed = sections_of_text(texts)
    if not printed:
        return promised, False
    told, _ = sections_of_text(texts, use_toc=False)
    return (told, False) if is_incomplete(promised, told) else (promised, True)


def _read_page(document: Document, page: int, ocr: OcrReader) -> OcrPage | None:
    """Return the OCR result of `page`, or None if OCR finds no text or the page cannot be rendered."""
    with exclusive():
        drawn = _render(document, page)
    if drawn is None:
        return None
    image, width, height = drawn
    with away():
        found = [line for line in ocr.lines(image) if line.score >= _MIN_CONFIDENCE and line.text.strip()]
        found = join_numbers(found, width / height)
        inks = measure_glyphs(image.convert("L"), found)
    return OcrPage(found, inks, width, height, height / image.height) if found else None


def _render(document: Document, page: int) -> tuple[Any, float, float] | None:
    """Return an image of the displayed page, and the page's width and height in points; None if it cannot be rendered."""
    from PIL import Image

    try:
        if any(image[2] * image[3] > IMAGE_PIXEL_LIMIT for image in document.get_page_images(page - 1)):
            return None
        empty_store()  # an image decoded at another size is drawn a little otherwise
        shown = document[page - 1]
        width, height = max(shown.rect.width, 1.0), max(shown.rect.height, 1.0)
        zoom = min(RESOLUTION / 72, (RENDER_PIXEL_LIMIT / (width * height)) ** 0.5)
        with exclusive() as pymupdf:
            pixels = shown.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
    except CiteKitError:
        raise
    except Exception:  # a damaged page is no scan; what PyMuPDF raises then is of any kind
        return None
    return Image.frombytes("RGB", (pixels.width, pixels.height), bytes(pixels.samples)), width, height
