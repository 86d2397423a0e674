"""A small PDF that holds the asked pages and nothing else of the source.

Finds the pages of a PDF without reading all of its page tree (ISO 32000-1, 7.7.3).

The catalog of a mini-PDF: what belongs to the document as a whole (ISO 32000-1, 7.7.2).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citekit.adapters.formats.pdf.document.bookmarks import read_bookmarks
from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.page_labels import LabelRule, labels_of, read_labels
from citekit.adapters.formats.pdf.document.page_objects import OutlineError, PageTreeError, page_leaves
from citekit.adapters.formats.pdf.evidence.bookmarks import Mark, copied_marks, kept_marks, write_outline
from citekit.adapters.formats.pdf.evidence.graft import GraftError, graft_pages
from citekit.adapters.formats.pdf.evidence.region import clip_page
from citekit.adapters.formats.pdf.evidence.scrub import scrub_pages
from citekit.adapters.formats.pdf.evidence.sweep import sweep
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, is_encrypted, opened, written
from citekit.adapters.system.files import writing
from citekit.domain.errors import ExtractionFailed, LocationOutside
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages

_KNOWN = "_citekit_pages"


def find_pages(document: Document, numbers: Sequence[int], memory: PdfMemory) -> list[Any] | None:
    """The objects of the pages `numbers` (from 1, rising), or None where engines may disagree which they are.

    MuPDF counts pages from the left, or, in a tree with a fault anywhere, by the counts that its nodes claim. Where both
    lead to the same object, every reader does, whatever the rest of the tree is like.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        try:
            counted = _counted(document, numbers[-1], memory)
        except PageTreeError:
            return None
        found = []
        for number in numbers:
            page, *_ = mupdf.pdf_lookup_page_loc(pdf, number - 1)
            if number > len(counted) or not mupdf.pdf_to_num(page) or mupdf.pdf_to_num(page) != counted[number - 1]:
                return None
            found.append(page)
        return found


def _counted(document: Document, last: int, memory: PdfMemory) -> Sequence[int]:
    """The object numbers of at least the first `last` pages, as far as there are; what was counted once stays known."""
    of, counted, rest = getattr(document, _KNOWN, (None, [], None))
    if of != memory.source.digest:  # the file may have been replaced
        counted, rest = memory.pages(), None
    before = len(counted)
    if before < last:
        anew = rest is None
        rest = rest or itertools.islice(page_leaves(document), before, None)
        counted.extend(itertools.islice(rest, last - before))
        memory.learn_pages(counted, 0 if anew else before)  # counting anew is what costs, however few are added
    setattr(document, _KNOWN, (memory.source.digest, counted, rest))
    return list[int](counted)


_CARRIED = ("OCProperties", "Lang")
"""Which layers are shown decides what a page looks like; the language is what a screen reader asks for."""

_KEPT = {"Type", "Pages", "Version", "Names", *_CARRIED}

_FORM = "AcroForm"


def read_catalog(document: Document) -> Mapping[str, str]:
    """The entries that must survive the selection of pages, as PDF source text."""
    catalog = document.pdf_catalog()
    found = {key: document.xref_get_key(catalog, key) for key in (*_CARRIED, _FORM)}
    return {key: _source(kind, value) for key, (kind, value) in found.items() if kind in ("xref", "dict", "string")}


def _source(kind: str, value: str) -> str:
    return f"<{_text(value)}>" if kind == "string" else value


def restore_catalog(document: Document, entries: Mapping[str, str]) -> None:
    """Leave in the catalog only what may stay; the structure tree would bring every page of the source along."""
    catalog = document.pdf_catalog()
    for key in _CARRIED:
        if key in entries:
            document.xref_set_key(catalog, key, entries[key])
    _drop(document, [key for key in document.xref_get_keys(catalog) if key not in _KEPT])


def _drop(document: Document, keys: Sequence[str]) -> None:
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        trailer = mupdf.pdf_trailer(mupdf.pdf_document_from_fz_document(document.this))
        for key in keys:
            mupdf.pdf_dict_dels(mupdf.pdf_dict_gets(trailer, "Root"), key)


def bake_forms(document: Document, entries: Mapping[str, str]) -> None:
    """Draw form fields onto their pages: a field refers to its form, and so to the pages that are gone."""
    if _FORM not in entries:
        return
    catalog = document.pdf_catalog()
    document.xref_set_key(catalog, _FORM, entries[_FORM])
    document.bake(annots=False, widgets=True)
    _drop(document, [_FORM])


def write_labels(document: Document, rules: Sequence[LabelRule]) -> None:
    """Give the pages the labels of `rules` (12.4.2)."""
    entries = " ".join(f"{rule.first - 1} {_label(rule)}" for rule in rules)
    document.xref_set_key(document.pdf_catalog(), "PageLabels", f"<</Nums[{entries}]>>")


def _label(rule: LabelRule) -> str:
    style = f"/S/{rule.style}/St {rule.start}" if rule.style else ""
    prefix = f"/P<{_text(rule.prefix)}>" if rule.prefix else ""
    return f"<<{style}{prefix}>>"


def _text(value: str) -> str:
    """The hexadecimal digits of a text string in UTF-16 with its mark (7.9.2.2)."""
    return f"FEFF{value.encode('utf-16-be', 'replace').hex().upper()}"


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
