"""Chapters of a book laid out on pages: what a reflowable text has only when somebody asks for a PDF or a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from citekit.adapters.drivers.files import writing
from citekit.adapters.drivers.pymupdf import Document, exclusive, translated
from citekit.adapters.extraction.pdf.picture import PAGES_LIMIT, write_picture
from citekit.domain.errors import ExtractionFailed, FormUnsupported
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Chapter, Pages
from citekit.domain.progress import Progress

PAPER = (420, 595)
"""Width and height in points: A5, upright."""

FONT_SIZE = 11

WORD_LIMIT = 20_000
"""Characters, as HTML writes them, of the longest word that is laid out: the time of it grows with their square."""

_WORD = re.compile(rf"[^\s<>]{{{WORD_LIMIT}}}")
_TAG = re.compile(r"<[^>]*>")

_NOTE = "The book has no pages of its own: these were laid out for this file, on A5."


def write_pdf(html: str, location: Chapter, target: Path) -> Extraction:
    """Write the document `html` as a PDF."""
    with _laid_out(html, target) as document, writing(target):
        target.write_bytes(document.tobytes(garbage=3, deflate=True, use_objstms=1, no_new_id=True))
    return Extraction(suffix=".pdf", media_type="application/pdf", extent=location, notes=(_NOTE,))


def write_png(html: str, location: Chapter, target: Path, progress: Progress) -> Extraction:
    """Write the document `html` as one picture. Raises `FormUnsupported` where it takes too many pages."""
    with _laid_out(html, target) as document:
        if document.page_count > PAGES_LIMIT:
            raise FormUnsupported(
                f"Chapter {location.number} takes {document.page_count} pages and a picture shows at most {PAGES_LIMIT}: "
                "ask for some of its characters, or for html, pdf or text."
            )
        drawn = write_picture(document, Pages.span(1, document.page_count), target, progress)
    return Extraction(suffix=".png", media_type="image/png", extent=location, notes=(_NOTE, *drawn.notes))


@contextmanager
def _laid_out(html: str, target: Path) -> Iterator[Document]:
    if _WORD.search(_TAG.sub(" ", html)):
        raise FormUnsupported("There is a word in it that fits on no page: ask for html or text.")
    with exclusive() as pymupdf, translated(target, ExtractionFailed):
        flowing = pymupdf.open(stream=html.encode(), filetype="html")
        flowing.layout(width=PAPER[0], height=PAPER[1], fontsize=FONT_SIZE)
        document = pymupdf.open("pdf", flowing.convert_to_pdf())
        document.subset_fonts()
        yield document
