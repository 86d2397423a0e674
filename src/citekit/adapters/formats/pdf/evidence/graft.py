"""Copies pages of a PDF to a new one without loading its other pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, field

from citekit.adapters.formats.pdf.document.page_objects import explicit, page_number
from citekit.adapters.formats.pdf.evidence.scrub import (
    INFORMATION,
    PAGE_NAMES,
    clean_annotation,
    passive_action_entries,
)
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, new_document

_INHERITED = ("Resources", "MediaBox", "CropBox", "Rotate")
"""The entries that pages inherit from the page tree (ISO 32000-1, 7.7.3.4)."""

CATALOG_ENTRIES = ("OCProperties", "Lang")
"""Catalog entries that are copied: layers affect how a page looks; screen readers need the language."""

_RELATED_ANNOTATIONS = ("Parent", "IRT", "Popup")


class GraftError(Exception):
    """Raised if pages cannot be copied alone, because they have form fields or their objects refer to other pages."""


def graft_pages(document: Document, pages: Sequence[Any]) -> Document:
    """Return a new PDF with copies of `pages`, which are page objects of `document`, without labels or bookmarks.

    Annotations lose their references to other pages. Raise `GraftError` if the pages cannot be copied alone.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        mini = new_document()
        _PageCopier.between(mupdf, document, mini, pages).run()
        _check_page_count(mupdf, mupdf.pdf_document_from_fz_document(mini.this), len(pages))
        mini._reset_page_refs()
        return mini


@define
class _PageCopier:
    _mupdf: Any
    _source: Any
    _target: Any
    _map: Any
    _pages: Sequence[Any]
    _copies: list[Any]
    _numbers: dict[int, Any] = field(factory=dict)
    """Maps the object number of a source page to its copy; the first copy if a page is requested twice."""

    @classmethod
    def between(cls, mupdf: Any, document: Document, mini: Document, pages: Sequence[Any]) -> _PageCopier:
        source, made = (mupdf.pdf_document_from_fz_document(each.this) for each in (document, mini))
        copies = [mupdf.pdf_add_new_dict(made, 8) for _ in pages]
        graft = cls(mupdf, source, made, mupdf.pdf_new_graft_map(made), pages, copies)
        for page, copy in zip(pages, copies, strict=True):
            graft._numbers.setdefault(mupdf.pdf_to_num(page), copy)
        return graft

    def run(self) -> None:
        for position, (page, copy) in enumerate(zip(self._pages, self._copies, strict=True)):
            self._copy_page(page, copy)
            self._mupdf.pdf_insert_page(self._target, position, copy)
        self._copy_document_entries()

    def _copy_page(self, page: Any, copy: Any) -> None:
        mupdf = self._mupdf
        for name in sorted(PAGE_NAMES - {"Parent", "Annots"}):
            get = mupdf.pdf_dict_gets_inheritable if name in _INHERITED else mupdf.pdf_dict_gets
            self._put(copy, name, get(page, name))
        entries = mupdf.pdf_dict_gets(page, "Annots")
        annotations = [mupdf.pdf_array_get(entries, index) for index in range(mupdf.pdf_array_len(entries))]
        annotations = [annotation for annotation in annotations if mupdf.pdf_is_dict(annotation)]
        destinations = [self._destination_of(each) for each in annotations]
        kept = [
            (each, cleaned, target)
            for each, target in zip(annotations, destinations, strict=True)
            if (cleaned := self._clean_copy(each, target)) is not None
        ]
        if kept:
            mupdf.pdf_dict_puts(copy, "Annots", self._copy_annotations(kept, copy))

    def _copy_annotations(self, kept: Sequence[tuple[Any, Any, Any]], page: Any) -> Any:
        """Return the array of copied annotations for the copy `page`. `kept` has originals, cleaned copies, and
        destinations.
        """
        mupdf = self._mupdf
        made = [mupdf.pdf_add_new_dict(self._target, 8) for _ in kept]
        here = {mupdf.pdf_to_num(each): copy for (each, _, _), copy in zip(kept, made, strict=True)}
        here.pop(0, None)
        entries = mupdf.pdf_new_array(self._target, len(made))
        for (annotation, cleaned, target), copy in zip(kept, made, strict=True):
            mupdf.pdf_update_object(
                self._target, mupdf.pdf_to_num(copy), mupdf.pdf_graft_mapped_object(self._map, cleaned)
            )
            mupdf.pdf_dict_puts(copy, "P", page)
            for name in _RELATED_ANNOTATIONS:
                relative = here.get(mupdf.pdf_to_num(mupdf.pdf_dict_gets(annotation, name)))
                if relative is not None:
                    mupdf.pdf_dict_puts(copy, name, relative)
            self._set_destination(target, copy)
            mupdf.pdf_array_push(entries, copy)
        return entries

    def _clean_copy(self, annotation: Any, target: Any) -> Any:
        """Return a copy of an annotation without its references to pages and to other annotations; None for an
        invisible link that leads nowhere.

        Raise `GraftError` for a form field.
        """
        mupdf = self._mupdf
        kind = mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(annotation.m_internal, "Subtype"))
        if kind == "Widget":
            raise GraftError
        if (
            kind == "Link"
            and target is None
            and not self._leads_outside(annotation)
            and not self._is_visible(annotation)
        ):
            return None
        copy = mupdf.pdf_copy_dict(annotation)
        clean_annotation(mupdf, copy)
        for name in ("P", "Dest", *_RELATED_ANNOTATIONS):
            mupdf.pdf_dict_dels(copy, name)
        if mupdf.pdf_to_name(mupdf.pdf_dict_getp(copy, "A/S")) == "GoTo":
            mupdf.pdf_dict_dels(copy, "A")
        return copy

    def _leads_outside(self, link: Any) -> bool:
        """Return whether `link` has an allowed action other than a jump to a page, such as opening a web page."""
        needed = passive_action_entries(self._mupdf, link)
        return needed is not None and self._mupdf.pdf_to_name(self._mupdf.pdf_dict_getp(link, "A/S")) != "GoTo"

    def _is_visible(self, link: Any) -> bool:
        """Return whether a link has an appearance of its own, usually a border (ISO 32000-1, 12.5.4)."""
        mupdf = self._mupdf
        if mupdf.pdf_dict_gets(link, "AP").m_internal:
            return True
        style, border = mupdf.pdf_dict_getp(link, "BS/W"), mupdf.pdf_dict_gets(link, "Border")
        if style.m_internal:
            return bool(mupdf.pdf_to_real(style) > 0)
        if mupdf.pdf_is_array(border):
            return bool(mupdf.pdf_to_real(mupdf.pdf_array_get(border, 2)) > 0)
        return True

    def _set_destination(self, target: Any, copy: Any) -> None:
        """Make the link `copy` lead to the copied page of `target`; do nothing if `target` is None."""
        mupdf = self._mupdf
        if target is None:
            return
        destination = mupdf.pdf_new_array(self._target, 5)
        mupdf.pdf_array_push(destination, target[0])
        for number in range(1, min(mupdf.pdf_array_len(target[1]), 6)):
            mupdf.pdf_array_push(
                destination, mupdf.pdf_graft_mapped_object(self._map, mupdf.pdf_array_get(target[1], number))
            )
        mupdf.pdf_dict_puts(copy, "Dest", destination)

    def _destination_of(self, annotation: Any) -> tuple[Any, Any] | None:
        """Return the copy of the page that a link leads to, and the link's destination; None if the page was not
        copied.
        """
        destination = explicit(self._mupdf, self._source, annotation)
        copy = self._numbers.get(page_number(self._mupdf, destination))
        return None if copy is None else (copy, destination)

    def _copy_document_entries(self) -> None:
        """Copy the document information and `CATALOG_ENTRIES` to the new document."""
        mupdf = self._mupdf
        there, here = mupdf.pdf_trailer(self._source), mupdf.pdf_trailer(self._target)
        catalog = mupdf.pdf_dict_gets(here, "Root")
        mupdf.pdf_dict_dels(catalog, "Info")  # MuPDF writes its own name there
        for name in CATALOG_ENTRIES:
            self._put(catalog, name, mupdf.pdf_dict_getp(there, f"Root/{name}"))
        facts = mupdf.pdf_dict_gets(there, "Info")
        kept = mupdf.pdf_add_new_dict(self._target, 8)
        for index in range(mupdf.pdf_dict_len(facts)):
            if mupdf.pdf_is_string(mupdf.pdf_dict_get_val(facts, index)):
                name = mupdf.pdf_to_name(mupdf.pdf_dict_get_key(facts, index))
                if name in INFORMATION:
                    self._put(kept, name, mupdf.pdf_dict_get_val(facts, index))
        if mupdf.pdf_dict_len(kept):
            mupdf.pdf_dict_puts(here, "Info", kept)

    def _put(self, copy: Any, name: str, value: Any) -> None:
        if value.m_internal:
            self._mupdf.pdf_dict_puts(copy, name, self._mupdf.pdf_graft_mapped_object(self._map, value))


def _check_page_count(mupdf: Any, made: Any, count: int) -> None:
    """Raise `GraftError` if the new document does not have `count` pages: objects of copied pages may refer to other
    pages.
    """
    pages, kind, name = 0, mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_name
    for number in range(1, mupdf.pdf_xref_len(made)):
        each = mupdf.pdf_new_indirect(made, number, 0)
        pages += name(kind(each.m_internal, "Type")) == "Page"
    if pages != count:
        raise GraftError
