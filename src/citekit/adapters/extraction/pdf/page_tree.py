"""Finds the pages of a PDF without reading all of its page tree (ISO 32000-1, 7.7.3)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from citekit.adapters.drivers.pdf_memory import PdfMemory
from citekit.adapters.drivers.pdf_structure import PageTreeError, page_leaves
from citekit.adapters.drivers.pymupdf import Document, exclusive

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
