"""Copies pages of a PDF into a new one: a few objects, whatever the size of the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, field

from citekit.adapters.formats.pdf.document.page_objects import explicit, page_number
from citekit.adapters.formats.pdf.evidence.scrub import INFORMATION, PAGE_NAMES, clean_annotation, passive
from citekit.adapters.libraries.mupdf.engine import Document, exclusive, new_document

_INHERITED = ("Resources", "MediaBox", "CropBox", "Rotate")
"""ISO 32000-1, 7.7.3.4."""

_CARRIED = ("OCProperties", "Lang")

_RELATIVES = ("Parent", "IRT", "Popup")


class GraftError(Exception):
    """These pages cannot be copied alone, for they hold form fields or refer to the whole document."""


def graft_pages(document: Document, pages: Sequence[Any]) -> Document:
    """A new PDF of `pages`, objects of `document`, which is not changed; scrubbed, without labels and bookmarks.

    Raises `GraftError`.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        mini = new_document()
        _Graft.between(mupdf, document, mini, pages).run()
        _check_alone(mupdf, mupdf.pdf_document_from_fz_document(mini.this), len(pages))
        mini._reset_page_refs()
        return mini


@define
class _Graft:
    _mupdf: Any
    _source: Any
    _made: Any
    _map: Any
    _pages: Sequence[Any]
    _copies: list[Any]
    _numbers: dict[int, Any] = field(factory=dict)
    """From the number of a page in the source to its copy, the first where it is asked for twice."""

    @classmethod
    def between(cls, mupdf: Any, document: Document, mini: Document, pages: Sequence[Any]) -> _Graft:
        source, made = (mupdf.pdf_document_from_fz_document(each.this) for each in (document, mini))
        copies = [mupdf.pdf_add_new_dict(made, 8) for _ in pages]
        graft = cls(mupdf, source, made, mupdf.pdf_new_graft_map(made), pages, copies)
        for page, copy in zip(pages, copies, strict=True):
            graft._numbers.setdefault(mupdf.pdf_to_num(page), copy)
        return graft

    def run(self) -> None:
        for position, (page, copy) in enumerate(zip(self._pages, self._copies, strict=True)):
            self._page(page, copy)
            self._mupdf.pdf_insert_page(self._made, position, copy)
        self._whole()

    def _page(self, page: Any, copy: Any) -> None:
        mupdf = self._mupdf
        for name in sorted(PAGE_NAMES - {"Parent", "Annots"}):
            get = mupdf.pdf_dict_gets_inheritable if name in _INHERITED else mupdf.pdf_dict_gets
            self._put(copy, name, get(page, name))
        entries = mupdf.pdf_dict_gets(page, "Annots")
        annotations = [mupdf.pdf_array_get(entries, place) for place in range(mupdf.pdf_array_len(entries))]
        annotations = [annotation for annotation in annotations if mupdf.pdf_is_dict(annotation)]
        goals = [self._goal(each) for each in annotations]
        kept = [
            (each, cleaned, goal)
            for each, goal in zip(annotations, goals, strict=True)
            if (cleaned := self._cleaned(each, goal)) is not None
        ]
        if kept:
            mupdf.pdf_dict_puts(copy, "Annots", self._annotations(kept, copy))

    def _annotations(self, kept: Sequence[tuple[Any, Any, Any]], page: Any) -> Any:
        """The array of the copies of annotations, each given with those of its entries that may stay, and where it leads."""
        mupdf = self._mupdf
        made = [mupdf.pdf_add_new_dict(self._made, 8) for _ in kept]
        here = {mupdf.pdf_to_num(each): copy for (each, _, _), copy in zip(kept, made, strict=True)}
        here.pop(0, None)
        entries = mupdf.pdf_new_array(self._made, len(made))
        for (annotation, cleaned, goal), copy in zip(kept, made, strict=True):
            mupdf.pdf_update_object(
                self._made, mupdf.pdf_to_num(copy), mupdf.pdf_graft_mapped_object(self._map, cleaned)
            )
            mupdf.pdf_dict_puts(copy, "P", page)
            for name in _RELATIVES:
                relative = here.get(mupdf.pdf_to_num(mupdf.pdf_dict_gets(annotation, name)))
                if relative is not None:
                    mupdf.pdf_dict_puts(copy, name, relative)
            self._lead(goal, copy)
            mupdf.pdf_array_push(entries, copy)
        return entries

    def _cleaned(self, annotation: Any, goal: Any) -> Any:
        """The entries of an annotation that may stay, without those that name other objects of a document; None drops it."""
        mupdf = self._mupdf
        kind = mupdf.ll_pdf_to_name(mupdf.ll_pdf_dict_gets(annotation.m_internal, "Subtype"))
        if kind == "Widget":
            raise GraftError
        if kind == "Link" and goal is None and not self._acts(annotation) and not self._is_seen(annotation):
            return None
        copy = mupdf.pdf_copy_dict(annotation)
        clean_annotation(mupdf, copy)
        for name in ("P", "Dest", *_RELATIVES):
            mupdf.pdf_dict_dels(copy, name)
        if mupdf.pdf_to_name(mupdf.pdf_dict_getp(copy, "A/S")) == "GoTo":
            mupdf.pdf_dict_dels(copy, "A")
        return copy

    def _acts(self, link: Any) -> bool:
        """Whether a click on a link leads out of the document."""
        needed = passive(self._mupdf, link)
        return needed is not None and self._mupdf.pdf_to_name(self._mupdf.pdf_dict_getp(link, "A/S")) != "GoTo"

    def _is_seen(self, link: Any) -> bool:
        """Whether a link has a look of its own, a frame as a rule (12.5.4)."""
        mupdf = self._mupdf
        if mupdf.pdf_dict_gets(link, "AP").m_internal:
            return True
        style, border = mupdf.pdf_dict_getp(link, "BS/W"), mupdf.pdf_dict_gets(link, "Border")
        if style.m_internal:
            return bool(mupdf.pdf_to_real(style) > 0)
        if mupdf.pdf_is_array(border):
            return bool(mupdf.pdf_to_real(mupdf.pdf_array_get(border, 2)) > 0)
        return True

    def _lead(self, goal: Any, copy: Any) -> None:
        """Let a link to a kept page lead to its copy."""
        mupdf = self._mupdf
        if goal is None:
            return
        place = mupdf.pdf_new_array(self._made, 5)
        mupdf.pdf_array_push(place, goal[0])
        for number in range(1, min(mupdf.pdf_array_len(goal[1]), 6)):
            mupdf.pdf_array_push(place, mupdf.pdf_graft_mapped_object(self._map, mupdf.pdf_array_get(goal[1], number)))
        mupdf.pdf_dict_puts(copy, "Dest", place)

    def _goal(self, annotation: Any) -> tuple[Any, Any] | None:
        """The copy of the page that a link leads to, and its explicit destination; None for any other link."""
        place = explicit(self._mupdf, self._source, annotation)
        copy = self._numbers.get(page_number(self._mupdf, place))
        return None if copy is None else (copy, place)

    def _whole(self) -> None:
        """Carry what decides how pages look, and what the document says of itself."""
        mupdf = self._mupdf
        there, here = mupdf.pdf_trailer(self._source), mupdf.pdf_trailer(self._made)
        catalog = mupdf.pdf_dict_gets(here, "Root")
        mupdf.pdf_dict_dels(catalog, "Info")  # MuPDF's own name
        for name in _CARRIED:
            self._put(catalog, name, mupdf.pdf_dict_getp(there, f"Root/{name}"))
        facts = mupdf.pdf_dict_gets(there, "Info")
        kept = mupdf.pdf_add_new_dict(self._made, 8)
        for place in range(mupdf.pdf_dict_len(facts)):
            if mupdf.pdf_is_string(mupdf.pdf_dict_get_val(facts, place)):
                name = mupdf.pdf_to_name(mupdf.pdf_dict_get_key(facts, place))
                if name in INFORMATION:
                    self._put(kept, name, mupdf.pdf_dict_get_val(facts, place))
        if mupdf.pdf_dict_len(kept):
            mupdf.pdf_dict_puts(here, "Info", kept)

    def _put(self, copy: Any, name: str, value: Any) -> None:
        if value.m_internal:
            self._mupdf.pdf_dict_puts(copy, name, self._mupdf.pdf_graft_mapped_object(self._map, value))


def _check_alone(mupdf: Any, made: Any, count: int) -> None:
    """Some object of a page may refer to another page, and so have brought the source along."""
    pages, kind, name = 0, mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_name
    for number in range(1, mupdf.pdf_xref_len(made)):
        each = mupdf.pdf_new_indirect(made, number, 0)
        pages += name(kind(each.m_internal, "Type")) == "Page"
    if pages != count:
        raise GraftError
