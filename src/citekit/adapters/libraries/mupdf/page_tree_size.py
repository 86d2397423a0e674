"""Measures the page tree of a PDF (ISO 32000-1, 7.7.3) before MuPDF walks it.

MuPDF walks a shared object once per reference, so a file of forty objects, each of which refers to the next one twice,
would keep it busy practically forever.
"""

from __future__ import annotations

from typing import Any

VISITS = 400_000
"""The maximum number of steps of a walk, enough for `PAGE_LIMIT` pages and their nodes."""

DEPTH = 500
"""The maximum number of levels of a tree that is read. MuPDF's own walk is recursive."""


class PageTreeSizeError(Exception):
    """The page tree of a PDF is too large or too deep to walk."""


def check_page_tree(mupdf: Any, document: Any) -> None:
    """Raise `PageTreeSizeError` if the page tree of `document` is too large or too deep (see `VISITS` and `DEPTH`).

    `document` is a `pymupdf.Document`, and `mupdf` is the module `pymupdf.mupdf`.
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
        """Return the number of nodes below `node` (at the level `depth`), counting an object once per reference."""
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
            self._known[number] = 0  # until the count is known, so that a node below itself ends the walk
        below = self.steps(kid, depth)
        if number:
            self._known[number] = below
        return below
