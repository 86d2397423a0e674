"""A small PDF that holds the asked pages and nothing else of the source."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.drivers.files import writing
from citekit.adapters.drivers.pdf_labels import labels_of, read_labels
from citekit.adapters.drivers.pymupdf import Document
from citekit.adapters.extraction.pdf.catalog import (
    bake_forms,
    read_catalog,
    restore_catalog,
    write_labels,
)
from citekit.adapters.extraction.pdf.outline import kept_marks, write_outline
from citekit.adapters.extraction.pdf.region import clip_page
from citekit.adapters.extraction.pdf.scrub import scrub_pages
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages


def write_mini(document: Document, location: Pages, target: Path) -> Extraction:
    """Write the pages of `location` to `target`; where it has a region, the page is cut to it.

    Links between kept pages, annotations, page labels, layers and the bookmarks of kept pages stay; form fields become
    part of the page. Links to other pages, attached files, scripts and other actions, the structure tree and everything
    else that belongs to the whole document go. The same pages give the same bytes.
    """
    catalog, labels = read_catalog(document), read_labels(document)
    marks = kept_marks(document, location.numbers)
    document.xref_set_key(
        document.pdf_catalog(), "Outlines", "null"
    )  # one that runs in circles would stop the selection
    document.select([number - 1 for number in location.numbers])
    restore_catalog(document, catalog)
    bake_forms(document, catalog)
    notes: tuple[str, ...] = ()
    if location.region is not None:
        notes = clip_page(document[0], location.region)
    scrub_pages(document)
    write_labels(document, labels_of(labels, location.numbers))
    write_outline(document, [] if location.region is not None else marks)
    data = document.tobytes(garbage=3, deflate=True, use_objstms=1, no_new_id=True)
    with writing(target):  # not by `save`: MuPDF would report a full disk as a fault of the document
        target.write_bytes(data)
    return Extraction(suffix=".pdf", media_type="application/pdf", extent=location, notes=notes)
