"""Page labels of a PDF: the numbers that a viewer shows (ISO 32000-1, 12.4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from citekit.adapters.libraries.mupdf.engine import exclusive

NODE_LIMIT = 10_000
"""Nodes of a number tree that are read, and entries of each."""


@frozen
class LabelRule:
    """From page `first` (1-based) on: `prefix`, then a number in `style` (D, R, r, A, a, or "" for none) from `start`."""

    first: int
    style: str
    prefix: str
    start: int

    def at(self, page: int) -> LabelRule:
        """The same numbering, stated from `page` on."""
        return LabelRule(page, self.style, self.prefix, self.start + page - self.first)

    def moved(self, first: int) -> LabelRule:
        """The same labels on pages that begin at `first`."""
        return LabelRule(first, self.style, self.prefix, self.start)


UNLABELLED = LabelRule(1, "D", "", 1)
"""Without rules the label of a page is its physical number."""


def read_labels(document: Any) -> tuple[LabelRule, ...]:
    """The rules of an open PDF in rising order, the first for page 1; rules that make no sense are left out.

    The number tree is read here because PyMuPDF's own reader cuts prefixes at slashes and leaves UTF-16 undecoded.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        tree = mupdf.pdf_dict_getp(mupdf.pdf_trailer(pdf), "Root/PageLabels")
        found: dict[int, LabelRule] = {1: UNLABELLED}
        for page, entry in _entries(mupdf, tree):
            if 1 <= page <= document.page_count:
                found[page] = _rule(mupdf, page, entry)
        return tuple(found[first] for first in sorted(found))


def _entries(mupdf: Any, tree: Any) -> Iterator[tuple[int, Any]]:
    """(1-based page, label dictionary) of a number tree (7.9.7); one that points to itself ends at `NODE_LIMIT`."""
    pending, seen = [tree], 0
    while pending and seen < NODE_LIMIT:
        node = pending.pop()
        seen += 1
        pairs = mupdf.pdf_dict_gets(node, "Nums")
        for place in range(0, min(mupdf.pdf_array_len(pairs), 2 * NODE_LIMIT) - 1, 2):
            yield mupdf.pdf_array_get_int(pairs, place) + 1, mupdf.pdf_array_get(pairs, place + 1)
        kids = mupdf.pdf_dict_gets(node, "Kids")
        pending += [mupdf.pdf_array_get(kids, place) for place in range(min(mupdf.pdf_array_len(kids), NODE_LIMIT))]


def _rule(mupdf: Any, page: int, entry: Any) -> LabelRule:
    style = mupdf.pdf_to_name(mupdf.pdf_dict_gets(entry, "S"))
    return LabelRule(
        first=page,
        style=style if style in ("D", "R", "r", "A", "a") else "",
        prefix=mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(entry, "P"))[:200].replace("\0", ""),
        start=max(1, mupdf.pdf_to_int(mupdf.pdf_dict_gets(entry, "St"))),
    )


def labels_of(rules: Sequence[LabelRule], pages: Sequence[int]) -> list[LabelRule]:
    """The rules of a document made of `pages` (rising) alone, under which every page keeps its label."""
    kept: list[LabelRule] = []
    place = 0
    for position, page in enumerate(pages, 1):
        while place + 1 < len(rules) and rules[place + 1].first <= page:
            place += 1
        rule = rules[place].at(page).moved(position)
        if not kept or kept[-1].at(position) != rule:
            kept.append(rule)
    return kept
