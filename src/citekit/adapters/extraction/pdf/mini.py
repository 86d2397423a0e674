"""A small PDF that holds the asked pages and nothing else of the source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citekit.adapters.drivers.files import writing
from citekit.adapters.drivers.pdf_labels import LabelRule, labels_of, read_labels
from citekit.adapters.drivers.pdf_memory import PdfMemory
from citekit.adapters.drivers.pdf_outline import read_bookmarks
from citekit.adapters.drivers.pdf_pool import Use, shared
from citekit.adapters.drivers.pdf_structure import OutlineError
from citekit.adapters.drivers.pymupdf import Document, exclusive, is_encrypted, opened, written
from citekit.adapters.extraction.pdf.catalog import bake_forms, read_catalog, restore_catalog, write_labels
from citekit.adapters.extraction.pdf.destinations import copied_marks
from citekit.adapters.extraction.pdf.graft import GraftError, graft_pages
from citekit.adapters.extraction.pdf.outline import Mark, kept_marks, write_outline
from citekit.adapters.extraction.pdf.page_tree import find_pages
from citekit.adapters.extraction.pdf.region import clip_page
from citekit.adapters.extraction.pdf.scrub import scrub_pages
from citekit.adapters.extraction.pdf.sweep import sweep
from citekit.domain.errors import ExtractionFailed, LocationOutside
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages


def write_mini(memory: PdfMemory, location: Pages, target: Path, password: str | None = None) -> Extraction:
    """Write the pages of `location` of the PDF that `memory` is of to `target`; with a region, the page is cut to it.

    Links between kept pages, annotations, page labels, layers and the bookmarks of kept pages stay; form fields become
    part of the page. Links to other pages, attached files, scripts and other actions, the structure tree and everything
    else that belongs to the whole document go. The same pages give the same bytes.

    The pages are copied into a new document; out of one that is encrypted, damaged, or holds fields on these pages, all
    others are taken instead, which reads it whole. Which way is taken depends on the file and the pages alone.
    What is made of an encrypted file, which `password` opens where it has one, is not encrypted, and a note says so.
    """
    data, notes = _copied(memory, location, password) or _selected(memory.source.path, location, password)
    with writing(target):  # not by `save`: MuPDF would report a full disk as a fault of the document
        target.write_bytes(data)
    return Extraction(suffix=".pdf", media_type="application/pdf", extent=location, notes=notes)


_Made = tuple[bytes, tuple[str, ...]]


def _copied(memory: PdfMemory, location: Pages, password: str | None = None) -> _Made | None:
    """The mini-PDF and notes; None where the pages cannot be copied alone."""
    try:
        with shared(memory.source.path, Use.COPYING, ExtractionFailed, password=password) as document:
            check_inside(document, location)
            if document.is_repaired or is_encrypted(document):
                return None
            made = _grafted(document, location, memory)
        if made is not None:
            memory.save()
        return made
    except (GraftError, OutlineError, ExtractionFailed):
        return None


def _grafted(document: Document, location: Pages, memory: PdfMemory) -> _Made | None:
    pages = find_pages(document, location.numbers, memory)
    if pages is None:
        return None
    mini = graft_pages(document, pages)
    marks, labels = copied_marks(document, _positions(pages), memory), read_labels(document)
    return None if document.is_repaired else _finished(mini, location, marks, labels, clean=True)


def _positions(pages: Sequence[Any]) -> dict[int, int]:
    with exclusive() as pymupdf:
        numbers = [pymupdf.mupdf.pdf_to_num(page) for page in pages]
        return {number: position for position, number in reversed(list(enumerate(numbers)))}


def _selected(path: Path, location: Pages, password: str | None = None) -> _Made:
    with opened(path, ExtractionFailed, password=password) as document:
        check_inside(document, location)
        open_notes = protection_notes(document)
        catalog, labels = read_catalog(document), read_labels(document)
        marks = kept_marks(read_bookmarks(document), location.numbers)
        # an outline that runs in circles would stop the selection
        document.xref_set_key(document.pdf_catalog(), "Outlines", "null")
        document.select([number - 1 for number in location.numbers])
        restore_catalog(document, catalog)
        bake_forms(document, catalog)
        data, notes = _finished(document, location, marks, labels)
        return data, (*notes, *open_notes)


def _finished(
    mini: Document, location: Pages, marks: Sequence[Mark], labels: Sequence[LabelRule], *, clean: bool = False
) -> _Made:
    """The file of a document of the asked pages alone; `clean` says that they are scrubbed."""
    notes: tuple[str, ...] = ()
    if location.region is not None:
        notes = clip_page(mini[0], location.region)
    if location.region is not None or not clean:
        scrub_pages(mini)
    write_labels(mini, labels_of(labels, location.numbers))
    write_outline(mini, [] if location.region is not None else marks)
    sweep(mini, alone=clean)
    return written(mini), notes


def protection_notes(document: Document) -> tuple[str, ...]:
    """A sentence where the source is encrypted: evidence of it is there for everybody to read."""
    return ("The source is encrypted; this part of it is not.",) if is_encrypted(document) else ()


def check_inside(document: Document, location: Pages) -> None:
    """Raise `LocationOutside` where a page lies beyond the end."""
    last, count = location.numbers[-1], document.page_count
    if last > count:
        raise LocationOutside(f"page {last} is beyond the end: the document has {count} pages")
