"""Finds the pages of a PDF without reading all of its page tree (ISO 32000-1, 7.7.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from citekit.adapters.drivers.pymupdf import Document, exclusive

_DEPTH = 40
_KNOWN = "_citekit_pages"


class _UnusualError(Exception):
    """A page tree that readers may count differently."""


def find_pages(document: Document, numbers: Sequence[int]) -> list[Any] | None:
    """The objects of the pages `numbers` (from 1, rising), or None where engines may disagree which they are.

    MuPDF counts pages from the left, or, in a tree with a fault anywhere, by the counts that its nodes claim. Where both
    lead to the same object, every reader does, whatever the rest of the tree is like.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        try:
            counted = _counted(mupdf, pdf, document, numbers[-1])
        except _UnusualError:
            return None
        found = []
        for number in numbers:
            page, *_ = mupdf.pdf_lookup_page_loc(pdf, number - 1)
            if number > len(counted) or not mupdf.pdf_to_num(page) or mupdf.pdf_to_num(page) != counted[number - 1]:
                return None
            found.append(page)
        return found


def _counted(mupdf: Any, pdf: Any, document: Document, last: int) -> Sequence[int]:
    """The object numbers of at least the first `last` pages, as far as there are; what was counted once stays known."""
    known: tuple[list[int], Iterator[int]] | None = getattr(document, _KNOWN, None)
    if known is None:
        known = ([], _leaves(mupdf, mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(pdf.m_internal), "Root/Pages")))
        setattr(document, _KNOWN, known)
    counted, rest = known
    while len(counted) < last and (leaf := next(rest, None)) is not None:
        counted.append(leaf)
    return counted


def _leaves(mupdf: Any, node: Any, depth: int = 0) -> Iterator[int]:
    """Plain pointers, for there may be thousands of pages: they live as long as the document."""
    get, name = mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_name
    kids = get(node, "Kids")
    if depth > _DEPTH or not kids or not mupdf.ll_pdf_is_array(kids):
        raise _UnusualError
    for place in range(mupdf.ll_pdf_array_len(kids)):
        kid = mupdf.ll_pdf_array_get(kids, place)
        kind = get(kid, "Type") if kid else None
        kind = name(kind) if kind else ""
        if kind == "Page":
            yield mupdf.ll_pdf_to_num(kid)
        elif kind == "Pages":
            yield from _leaves(mupdf, kid, depth + 1)
        else:
            raise _UnusualError
