"""Pages that are pictures of pages: which they are, and their text, where somebody can read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.graphics import may_draw, page_graphics
from citekit.adapters.formats.pdf.outline.glyph_metrics import inks_of, with_numbers
from citekit.adapters.formats.pdf.outline.headers_footers import SAMPLE
from citekit.adapters.formats.pdf.outline.heading_location import Section
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.scan_styles import ReadPage, typed_pages
from citekit.adapters.formats.pdf.outline.structure import outdone, sections_of_text
from citekit.adapters.formats.shared.ocr import OcrReader
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.libraries.mupdf.engine import Document, away, empty_store, exclusive
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Pages

OCR_PAGES = 40
"""Scanned pages whose text is read, at some seconds each."""

RESOLUTION = 160
"""Dots per inch that pages are drawn at to be read."""

PIXELS = 12_000_000
"""Of a drawn page; a larger one is drawn coarser."""

EMBEDDED = 250_000_000
"""Pixels of a picture inside the page; a larger one would need gigabytes to decode."""

LARGE = 100_000
"""Pixels of the pictures of a page that may be a scan."""

_COVERED = 0.7
"""The part of a page that its picture covers at least."""

_SURE = 0.5
"""How sure a reader is of a line at least."""


@frozen
class Scans:
    """`bare` pages have no text; `layered` ones hold invisible text that somebody read before."""

    bare: frozenset[int] = frozenset()
    layered: frozenset[int] = frozenset()

    @property
    def pages(self) -> frozenset[int]:
        """All of them."""
        return self.bare | self.layered

    def notes(self, page_count: int, reads: bool) -> list[str]:
        """What a reader of the map must know; `reads` says that somebody reads the bare ones."""
        notes = []
        if self.bare:
            hint = "" if reads else " Their text is not read: that needs the extra 'ocr'."
            notes.append(f"{_count(len(self.bare), page_count)} without text.{hint}")
        if self.layered:
            notes.append(f"{_count(len(self.layered), page_count)} with text that was recognised before; it is used.")
        return notes


def _count(number: int, page_count: int) -> str:
    if number == page_count:
        return "The page is a scan" if number == 1 else f"All {number} pages are scans"
    return f"1 of {page_count} pages is a scan" if number == 1 else f"{number} of {page_count} pages are scans"


def scans_among(document: Document, texts: PageTexts) -> Scans:
    """The scans among the pages that were read; none where a sample of the pages that may be some holds none."""
    candidates = [page for page in range(1, texts.count + 1) if texts.cached(page) and _may_be(texts, page)]
    step = max(1, len(candidates) // SAMPLE)
    if not any(_is_scan(document, texts, page) for page in candidates[::step]):
        return Scans()
    scans = [page for page in candidates if _is_scan(document, texts, page)]
    return Scans(
        frozenset(page for page in scans if not texts.read(page)), frozenset(page for page in scans if texts.read(page))
    )


def _may_be(texts: PageTexts, page: int) -> bool:
    """Whether a page has a picture at all, large enough to be one of a page."""
    return sum(image.width * image.height for image in texts.images(page)) >= LARGE


def _is_scan(document: Document, texts: PageTexts, page: int) -> bool:
    texts.go_on()
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
    return not visible and covered >= _COVERED * whole


def marked(drafts: Sequence[OutlineItem], scans: Scans) -> tuple[OutlineItem, ...]:
    """The page groups `drafts`, those that hold nothing but scans of the type `scan` (one page) or `scans`."""
    return tuple(_marked(draft, scans.pages) for draft in drafts)


def _marked(draft: OutlineItem, pages: frozenset[int]) -> OutlineItem:
    assert isinstance(draft.location, Pages)
    if not pages.issuperset(draft.location.numbers):
        return draft
    return evolve(draft, type="scan" if len(draft.location.numbers) == 1 else "scans")


def read_scans(document: Document, texts: PageTexts, scans: Scans, ocr: OcrReader) -> list[str]:
    """Let the lines that `ocr` reads in the first `OCR_PAGES` bare scans be those of their pages; notes about it.

    Raises as `ocr` does.
    """
    pages = {}
    for page in sorted(scans.bare)[:OCR_PAGES]:
        found = _read(document, page, ocr)
        if found is not None:
            pages[page] = found
    for page, lines in typed_pages(pages).items():
        texts.put(page, lines)
    notes = [f"The text of {len(pages)} scans was read by a machine, and may be wrong in places."] if pages else []
    if len(scans.bare) > OCR_PAGES:
        notes.append(f"Only the first {OCR_PAGES} scans were read.")
    return notes


def sections_of_scans(texts: PageTexts) -> tuple[list[Section], bool]:
    """As `sections_of_text`, of pages that a machine read: it does not see every number of the printed contents.

    The contents are left out where the type of the headings bears out what they name, and tells more of the same levels.
    """
    promised, printed = sections_of_text(texts)
    if not printed:
        return promised, False
    told, _ = sections_of_text(texts, contents=False)
    return (told, False) if outdone(promised, told) else (promised, True)


def _read(document: Document, page: int, ocr: OcrReader) -> ReadPage | None:
    """What stands on `page`; None where nothing does."""
    with exclusive():
        drawn = _drawn(document, page)
    if drawn is None:
        return None
    image, width, height = drawn
    with away():
        found = [line for line in ocr.lines(image) if line.score >= _SURE and line.text.strip()]
        found = with_numbers(found, width / height)
        inks = inks_of(image.convert("L"), found)
    return ReadPage(found, inks, width, height, height / image.height) if found else None


def _drawn(document: Document, page: int) -> tuple[Any, float, float] | None:
    """The page as it is shown, in grey, and its size in points; None where it cannot be drawn."""
    from PIL import Image

    try:
        if any(image[2] * image[3] > EMBEDDED for image in document.get_page_images(page - 1)):
            return None
        empty_store()  # an image decoded at another size is drawn a little otherwise
        shown = document[page - 1]
        width, height = max(shown.rect.width, 1.0), max(shown.rect.height, 1.0)
        zoom = min(RESOLUTION / 72, (PIXELS / (width * height)) ** 0.5)
        with exclusive() as pymupdf:
            pixels = shown.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
    except CiteKitError:
        raise
    except Exception:  # a damaged page is no scan; what PyMuPDF raises then is of any kind
        return None
    return Image.frombytes("RGB", (pixels.width, pixels.height), bytes(pixels.samples)), width, height
