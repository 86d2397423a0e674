"""How much there is to walk in the page tree of a PDF (ISO 32000-1, 7.7.3), found out before anybody walks it.

MuPDF walks all of it when it loads a page, as often as it is referred to: forty objects, each of which names the next
one twice, keep it busy for ever.
"""

from __future__ import annotations

from typing import Any

VISITS = 400_000
"""Steps of a walk through the longest tree that is read, which has a page for each of `PAGE_LIMIT` and its nodes."""

DEPTH = 500
"""Levels of the deepest tree that is read; MuPDF's own walk calls itself for each."""


class PageTreeSizeError(Exception):
    """A page tree that nobody can walk to its end."""


def check_page_tree(mupdf: Any, document: Any) -> None:
    """Raise `PageTreeSizeError` for a tree of more than `VISITS` steps or `DEPTH` levels.

    Each node is looked at once, by plain pointers that live as long as the document; a circle counts as its first round.
    """
    pdf = mupdf.pdf_document_from_fz_document(document.this)
    root = mupdf.ll_pdf_dict_getp(mupdf.ll_pdf_trailer(pdf.m_internal), "Root/Pages")
    _Walk(mupdf).steps(root, 0)


class _Walk:
    def __init__(self, mupdf: Any) -> None:
        self._get, self._number = mupdf.ll_pdf_dict_gets, mupdf.ll_pdf_to_num
        self._at, self._length = mupdf.ll_pdf_array_get, mupdf.ll_pdf_array_len
        self._known: dict[int, int] = {}
        self._looked = 0

    def steps(self, node: Any, depth: int) -> int:
        """Steps below `node`, each object as often as it is referred to."""
        kids = self._get(node, "Kids")
        if not kids:
            return 0
        if depth > DEPTH:
            raise PageTreeSizeError
        total = 0
        for place in range(self._length(kids)):
            total += 1 + self._below(self._at(kids, place), depth + 1)
            if total > VISITS:
                raise PageTreeSizeError
        return total

    def _below(self, kid: Any, depth: int) -> int:
        self._looked += 1
        if self._looked > VISITS:
            raise PageTreeSizeError
        number = self._number(kid)
        if number and number in self._known:
            return self._known[number]
        if number:
            self._known[number] = 0  # until it is known: a node below itself ends there
        below = self.steps(kid, depth)
        if number:
            self._known[number] = below
        return below
