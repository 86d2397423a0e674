"""The text of pages, or of a region of one page."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.drivers.pdf_text import text_as_seen
from citekit.adapters.drivers.pymupdf import Document
from citekit.adapters.extraction.pdf.region import shown_area
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress


def write_text(document: Document, location: Pages, target: Path, progress: Progress) -> Extraction:
    """Write the text as UTF-8, blocks parted by an empty line, pages by a form feed; it may be empty (a scan).

    Numbers that stand higher or lower than their line are superscripts and subscripts.
    """
    empty = True
    with target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        for position, number in enumerate(location.numbers):
            page = document[number - 1]
            area = None if location.region is None else shown_area(page, location.region)
            text = text_as_seen(page, area)
            empty = empty and not text
            stream.write(f"\f{text}" if position else text)
            progress(position + 1, len(location.numbers), "pages")
    notes = ("There is no text here: the page is a scan or a drawing.",) if empty else ()
    return Extraction(suffix=".txt", media_type="text/plain; charset=utf-8", extent=location, notes=notes)
