"""Writes a mini-PDF, which has only the requested pages of the source (ISO 32000-1, 7.7.2 and 7.7.3)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citekit.adapters.formats.pdf.document.bookmarks import read_bookmarks
from citekit.adapters.formats.pdf.document.document_cache import PdfMemory
from citekit.adapters.formats.pdf.document.open_documents import Use, shared
from citekit.adapters.formats.pdf.document.page_labels import LabelRule, labels_of, read_labels
from citekit.adapters.formats.pdf.document.page_objects import OutlineError, PageTreeError, page_leaves, utf16_hex
from citekit.adapters.formats.pdf.evidence.bookmarks import (
    MiniPdfBookmark,
    bookmarks_to_pages,
    copy_bookmarks,
    write_bookmarks,
)
from citekit.adapters.formats.pdf.evidence.graft import CATALOG_ENTRIES, GraftError, graft_pages
from citekit.adapters.formats.pdf.evidence.region import clip_page
from citekit.adapters.formats.pdf.evidence.scrub import scrub_pages
from citekit.adapters.formats.pdf.evidence.sweep import sweep
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, is_encrypted, opened, written
from citekit.adapters.system.files import writing
from citekit.domain.errors import ExtractionFailed, LocationOutside
from citekit.domain.evidence import Extraction
from citekit.domain.locations import Pages

_PAGES_ATTRIBUTE = "_citekit_pages"


def find_pages(document: Document, numbers: Sequence[int], memory: PdfMemory) -> list[Any] | None:
    """Return the page objects for `numbers` (1-based, ascending); None if PDF readers may disagree about these pages.

    MuPDF looks a page up either by counting the leaves of the page tree or, in a damaged tree, by the counts in its
    nodes. If both ways give the same object, readers agree, whatever the rest of the tree contains.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        try:
            counted = _page_objects(document, numbers[-1], memory)
        except PageTreeError:
            return None
        found = []
        for number in numbers:
            page, *_ = mupdf.pdf_lookup_page_loc(pdf, number - 1)
            if number > len(counted) or not mupdf.pdf_to_num(page) or mupdf.pdf_to_num(page) != counted[number - 1]:
                return None
            found.append(page)
        return found


def _page_objects(document: Document, last: int, memory: PdfMemory) -> Sequence[int]:
    """Return the object numbers of at least the first `last` pages, or of all pages if there are fewer, and cache them.

    Raise `PageTreeError` if PDF readers may count the pages differently.
    """
    of, counted, rest = getattr(document, _PAGES_ATTRIBUTE, (None, [], None))
    if of != memory.source.digest:  # the file may have been replaced
        counted, rest = memory.pages(), None
    before = len(counted)
    if before < last:
        anew = rest is None
        rest = rest or itertools.islice(page_leaves(document), before, None)
        counted.extend(itertools.islice(rest, last - before))
        memory.learn_pages(
            counted, 0 if anew else before
        )  # counting from the start is costly, however few pages are added
    setattr(document, _PAGES_ATTRIBUTE, (memory.source.digest, counted, rest))
    return list[int](counted)


_ALLOWED_ENTRIES = {"Type", "Pages", "Version", "Names", *CATALOG_ENTRIES}

_FORM = "AcroForm"


def read_catalog(document: Document) -> Mapping[str, str]:
    """Return, as PDF source text, the catalog entries to restore after the other pages are removed."""
    catalog = document.pdf_catalog()
    found = {key: document.xref_get_key(catalog, key) for key in (*CATALOG_ENTRIES, _FORM)}
    return {
        key: _as_source_text(kind, value) for key, (kind, value) in found.items() if kind in ("xref", "dict", "string")
    }


def _as_source_text(kind: str, value: str) -> str:
    return f"<{utf16_hex(value)}>" if kind == "string" else value


def restore_catalog(document: Document, entries: Mapping[str, str]) -> None:
    """Restore the catalog `entries` except the form, and remove entries that are not allowed, such as the structure
    tree.
    """
    catalog = document.pdf_catalog()
    for key in CATALOG_ENTRIES:
        if key in entries:
            document.xref_set_key(catalog, key, entries[key])
    _drop(document, [key for key in document.xref_get_keys(catalog) if key not in _ALLOWED_ENTRIES])


def _drop(document: Document, keys: Sequence[str]) -> None:
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        trailer = mupdf.pdf_trailer(mupdf.pdf_document_from_fz_document(document.this))
        for key in keys:
            mupdf.pdf_dict_dels(mupdf.pdf_dict_gets(trailer, "Root"), key)


def bake_forms(document: Document, entries: Mapping[str, str]) -> None:
    """Turn form fields into page content, because a field refers through its form to removed pages."""
    if _FORM not in entries:
        return
    catalog = document.pdf_catalog()
    document.xref_set_key(catalog, _FORM, entries[_FORM])
    document.bake(annots=False, widgets=True)
    _drop(document, [_FORM])


def write_labels(document: Document, rules: Sequence[LabelRule]) -> None:
    """Set the page labels of the document to `rules` (ISO 32000-1, 12.4.2)."""
    entries = " ".join(f"{rule.first - 1} {_label(rule)}" for rule in rules)
    document.xref_set_key(document.pdf_catalog(), "PageLabels", f"<</Nums[{entries}]>>")


def _label(rule: LabelRule) -> str:
    style = f"/S/{rule.style}/St {rule.start}" if rule.style else ""
    prefix = f"/P<{utf16_hex(rule.prefix)}>" if rule.prefix else ""
    return f"<<{style}{prefix}>>"


def write_mini_pdf(memory: PdfMemory, location: Pages, target: Path, password: str | None = None) -> Extraction:
    """Write the pages of `location` to `target` as a mini-PDF. If `location` has a region, the page is clipped to it.

    The mini-PDF keeps links between these pages, annotations, page labels, layers, and, without a region, the bookmarks
    of these pages; form fields become part of the page content. Other internal links, attached files, active actions
    such as scripts, and data of the whole document, such as the structure tree, are removed. The same pages give the
    same bytes.

    The pages are copied to a new document. If that is impossible, for example because the source is encrypted or
    damaged, or the pages have form fields, all other pages are removed from the source instead, which requires reading
    the whole file. Evidence of an encrypted file, which `password` opens, is not encrypted; a note says so. Raise
    `LocationOutside` if a page does not exist, `HomeUnwritable` if `target` cannot be written, and the same errors as
    `opened`, with `ExtractionFailed` for exceptions of PyMuPDF.
    """
    data, notes = _copy_pages(memory, location, password) or _select_pages(memory.source.path, location, password)
    with writing(target):  # not by `save`: MuPDF would report a full disk as a fault of the document
        target.write_bytes(data)
    return Extraction(suffix=".pdf", media_type="application/pdf", extent=location, notes=notes)


_FileAndNotes = tuple[bytes, tuple[str, ...]]


def _copy_pages(memory: PdfMemory, location: Pages, password: str | None = None) -> _FileAndNotes | None:
    """Return the bytes of the mini-PDF and its notes, or None if the pages cannot be copied alone."""
    try:
        with shared(memory.source.path, Use.COPYING, ExtractionFailed, password=password) as document:
            check_pages_exist(document, location)
            if document.is_repaired or is_encrypted(document):
                return None
            made = _graft(document, location, memory)
        if made is not None:
            memory.save()
        return made
    except (GraftError, OutlineError, ExtractionFailed):
        return None


def _graft(document: Document, location: Pages, memory: PdfMemory) -> _FileAndNotes | None:
    pages = find_pages(document, location.numbers, memory)
    if pages is None:
        return None
    mini = graft_pages(document, pages)
    marks, labels = copy_bookmarks(document, _positions(pages), memory), read_labels(document)
    return None if document.is_repaired else _finish(mini, location, marks, labels, clean=True)


def _positions(pages: Sequence[Any]) -> dict[int, int]:
    with exclusive() as pymupdf:
        numbers = [pymupdf.mupdf.pdf_to_num(page) for page in pages]
        return {number: position for position, number in reversed(list(enumerate(numbers)))}


def _select_pages(path: Path, location: Pages, password: str | None = None) -> _FileAndNotes:
    with opened(path, ExtractionFailed, password=password) as document:
        check_pages_exist(document, location)
        open_notes = protection_notes(document)
        catalog, labels = read_catalog(document), read_labels(document)
        marks = bookmarks_to_pages(read_bookmarks(document), location.numbers)
        # a cyclic outline would stop the selection
        document.xref_set_key(document.pdf_catalog(), "Outlines", "null")
        document.select([number - 1 for number in location.numbers])
        restore_catalog(document, catalog)
        bake_forms(document, catalog)
        data, notes = _finish(document, location, marks, labels)
        return data, (*notes, *open_notes)


def _finish(
    mini: Document,
    location: Pages,
    marks: Sequence[MiniPdfBookmark],
    labels: Sequence[LabelRule],
    *,
    clean: bool = False,
) -> _FileAndNotes:
    """Return the file bytes and notes of `mini`, a document that has only the requested pages, after completing it.

    `clean` is true if references to other parts of the source were already removed from the pages.
    """
    notes: tuple[str, ...] = ()
    if location.region is not None:
        notes = clip_page(mini[0], location.region)
    if location.region is not None or not clean:
        scrub_pages(mini)
    write_labels(mini, labels_of(labels, location.numbers))
    write_bookmarks(mini, [] if location.region is not None else marks)
    sweep(mini, alone=clean)
    return written(mini), notes


def protection_notes(document: Document) -> tuple[str, ...]:
    """Return a note if `document` is encrypted, since evidence extracted from it is not."""
    return ("The source is encrypted; this extracted part is not.",) if is_encrypted(document) else ()


def check_pages_exist(document: Document, location: Pages) -> None:
    """Raise `LocationOutside` if `location` names a page beyond the end of the document."""
    last, count = location.numbers[-1], document.page_count
    if last > count:
        raise LocationOutside.beyond("page", last, "document", count)
