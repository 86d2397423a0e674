"""Writes the text of PDF pages, of a region of a page, or of a section."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from citekit.adapters.formats.pdf.document.scanned_pages import PageRecognizer, RecognizedPage, is_blank_scan
from citekit.adapters.formats.pdf.document.text import text_as_seen
from citekit.adapters.formats.pdf.evidence.region import displayed_area
from citekit.adapters.formats.shared.ocr import version_of_ocr
from citekit.adapters.libraries.mupdf.engine import Document
from citekit.adapters.system.files import writing
from citekit.domain.distribution import install_command
from citekit.domain.evidence import Extraction, SectionTitles
from citekit.domain.locations import Box, Pages
from citekit.domain.progress import Progress
from citekit.domain.text_search.sections import SectionCut

_NAMED_PAGES = 20
"""The maximum number of pages recognized by OCR that a note lists."""

_NO_TEXT = "This part contains no text. It may be a scan or a drawing. Request the form png or pdf to see it."
_NO_OCR = (
    "The text of scans is not read, because OCR is off (CITEKIT_OCR=off) or the extra 'ocr' is not installed "
    f"({install_command('ocr')})."
)


def write_text(
    document: Document,
    location: Pages,
    target: Path,
    progress: Progress,
    recognizer: PageRecognizer | None,
    section: SectionTitles | None = None,
) -> Extraction:
    """Write the text of `location` to `target` as UTF-8, or only the text of `section` on these pages.

    Blocks are separated by an empty line, and pages by a form feed. Raised and lowered numbers become superscripts and
    subscripts. `recognizer` recognizes the text of scanned pages; a note says so. Other notes say if there is no text,
    or if the start or the end of `section` is not found, so that the text contains more of the page. Raise
    `HomeUnwritable` if `target` cannot be written, and the same errors as `PageRecognizer.page`.
    """
    empty, recognized, notes = True, [], list[str]()
    cut = None if section is None else SectionCut(section, location)
    with writing(target), target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        for position, number in enumerate(location.numbers):
            page = document[number - 1]
            area = None if location.region is None else displayed_area(page, location.region)
            text = text_as_seen(page, area)
            if not text and recognizer is not None and is_blank_scan(document, number):
                text = _recognized_text(recognizer.page(document, number), location.region)
                if text:
                    recognized.append(number)
            if cut is not None:
                text, missing = cut.of_page(number, text)
                notes += missing
            empty = empty and not text
            stream.write(f"\f{text}" if position else text)
            progress(position + 1, len(location.numbers), "pages")
    if empty:
        notes = [_NO_TEXT if recognizer is not None else f"{_NO_TEXT} {_NO_OCR}"]
    if recognized:
        numbers = ", ".join(map(str, recognized[:_NAMED_PAGES])) + (
            ", and others" if len(recognized) > _NAMED_PAGES else ""
        )
        pages = "page" if len(recognized) == 1 else "pages"
        notes.append(f"OCR ({version_of_ocr()}) recognized text ({pages} {numbers}). It may contain errors.")
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location, notes=notes)


def _recognized_text(page: RecognizedPage | None, region: Box | None) -> str:
    if page is None:
        return ""
    if region is not None:
        page = evolve(page, lines=[line for line in page.lines if _is_inside(line.box, region)])
    return f"{page.text}\n" if page.lines else ""


def _is_inside(line: Box, region: Box) -> bool:
    """Return whether the center of a line is inside a region. Both are in fractions of the displayed page."""
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    return region.x1 <= x <= region.x2 and region.y1 <= y <= region.y2
