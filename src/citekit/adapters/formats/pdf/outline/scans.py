"""Detects scanned pages and reads their text with OCR."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.document.scanned_pages import (
    SCAN_PIXELS,
    PageRecognizer,
    RecognizedPage,
    is_scan,
)
from citekit.adapters.formats.pdf.outline.glyph_metrics import join_numbers, measure_glyphs
from citekit.adapters.formats.pdf.outline.headers_footers import SAMPLE_SIZE
from citekit.adapters.formats.pdf.outline.pages import PageTexts
from citekit.adapters.formats.pdf.outline.scan_styles import OcrPage, styled_pages
from citekit.adapters.formats.pdf.outline.structure import TextSections, covers, sections_of_text
from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.adapters.libraries.mupdf.engine import away, exclusive
from citekit.domain.distribution import install_command
from citekit.domain.errors import CiteKitError
from citekit.domain.locations import Pages
from citekit.domain.phrases import counted


@frozen
class Scans:
    """The 1-based numbers of scanned pages: those without any text, and those with an invisible OCR text layer.

    `are_all` is false if not all pages were checked, so that there may be more scans.
    """

    without_text: frozenset[int] = frozenset()
    with_text_layer: frozenset[int] = frozenset()
    are_all: bool = True

    @property
    def pages(self) -> frozenset[int]:
        """The 1-based numbers of all scanned pages."""
        return self.without_text | self.with_text_layer

    def notes(self, page_count: int, reads: bool) -> list[str]:
        """Return notes about the scans for the map. `reads` is true if OCR reads the pages without text."""
        notes = []
        if self.without_text:
            whose = "Its" if len(self.without_text) == 1 else "Their"
            off = (
                f" {whose} text was not read, because OCR is off (--no-ocr or CITEKIT_OCR=off) or the extra 'ocr' is not "
                f"installed ({install_command('ocr')})."
            )
            hint = "" if reads else off
            notes.append(f"{self._count(self.without_text, page_count)} without a text layer.{hint}")
        if self.with_text_layer:
            notes.append(
                f"{self._count(self.with_text_layer, page_count)} with a text layer from earlier OCR, which is used."
            )
        return notes

    def _count(self, pages: frozenset[int], page_count: int) -> str:
        number = len(pages)
        if number == page_count:
            return "The page is a scan" if number == 1 else f"All {number} pages are scans"
        at_least = "" if self.are_all else "At least "
        return f"{at_least}{number} of {page_count} pages {'is a scan' if number == 1 else 'are scans'}"


def find_scans(texts: PageTexts) -> Scans:
    """Return the scanned pages among the pages of `texts` that have been read.

    If a sample of the pages with large images has no scan, the rest is not checked.
    """
    are_all = len(texts.pages) == texts.count
    candidates = [page for page in sorted(texts.pages) if _has_large_images(texts, page)]
    step = max(1, len(candidates) // SAMPLE_SIZE)
    if not any(_is_scan(texts, page) for page in candidates[::step]):
        return Scans()
    scans = [page for page in candidates if _is_scan(texts, page)]
    return Scans(
        frozenset(page for page in scans if not texts.read(page)),
        frozenset(page for page in scans if texts.read(page)),
        are_all=are_all,
    )


def _has_large_images(texts: PageTexts, page: int) -> bool:
    """Return whether the images of a page together have enough pixels for a scan."""
    return sum(image.width * image.height for image in texts.reader.images(page)) >= SCAN_PIXELS


def _is_scan(texts: PageTexts, page: int) -> bool:
    texts.reader.report_progress()
    try:
        with exclusive():
            return is_scan(texts.reader.document[page - 1])
    except CiteKitError:
        raise
    except Exception:  # a damaged or too complex page is no scan; PyMuPDF can raise any exception then
        return False


def mark_scans(outline_items: Sequence[OutlineItem], scans: Scans) -> tuple[OutlineItem, ...]:
    """Return `outline_items` (groups of pages), with the type `scan` for one scanned page and `scans` for several."""
    return tuple(_mark(outline_item, scans.pages) for outline_item in outline_items)


def _mark(outline_item: OutlineItem, pages: frozenset[int]) -> OutlineItem:
    assert isinstance(outline_item.location, Pages)
    if not pages.issuperset(outline_item.location.numbers):
        return outline_item
    return evolve(outline_item, type="scan" if len(outline_item.location.numbers) == 1 else "scans")


def read_scans(texts: PageTexts, scans: Scans, recognizer: PageRecognizer) -> tuple[PageTexts, list[str]]:
    """Recognize the text of scans without text. Return the texts with their lines, and notes.

    Raise the same errors as `PageRecognizer.page`.
    """
    pages, seen = {}, 0
    for page in sorted(scans.without_text):
        texts.reader.report_progress()
        found = recognizer.page(texts.reader.document, page)
        if found is None:
            continue
        seen += 1
        if found.lines:
            pages[page] = _measured(found)
    notes = [f"OCR recognized the text of {counted(len(pages), 'page')}. It may contain errors."] if pages else []
    if recognizer.is_spent and seen < len(scans.without_text):
        notes.append(
            f"OCR read only {seen} of the {len(scans.without_text)} pages without a text layer, because so many scans are "
            "implausible for a file of this size."
        )
    return texts.with_recognized(styled_pages(pages)), notes


def sections_of_scans(texts: PageTexts) -> TextSections:
    """Return the same result as `sections_of_text`, but ignore a TOC of which OCR missed too many numbers."""
    promised = sections_of_text(texts)
    if not promised.is_printed:
        return promised
    told = sections_of_text(texts, use_toc=False)
    return promised if covers(promised.sections, told.sections) else told


def _measured(page: RecognizedPage) -> OcrPage:
    with away():
        lines = join_numbers(page.lines, page.width / page.height)
        metrics = measure_glyphs(page.image.convert("L"), lines)
    return OcrPage(lines, metrics, page.width, page.height, page.height / page.image.height)
