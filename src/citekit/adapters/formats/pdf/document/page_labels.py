"""Reads and rewrites the page labels of a PDF: the page numbers that a viewer shows (ISO 32000-1, 12.4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from citekit.adapters.libraries.mupdf.engine import exclusive

NODE_LIMIT = 10_000
"""The maximum number of nodes of a number tree that are read, and of entries of each node."""


@frozen
class LabelRule:
    """The rule for the labels of pages from `first` (1-based) on: `prefix`, then a number that counts up from `start`.

    `style` is the numbering style: D, R, r, A, or a (ISO 32000-1, 12.4.2), or "" for labels without a number.
    """

    first: int
    style: str
    prefix: str
    start: int

    def at(self, page: int) -> LabelRule:
        """Return the rule that starts at `page` and gives the same labels as this rule from there on."""
        return LabelRule(page, self.style, self.prefix, self.start + page - self.first)

    def moved(self, first: int) -> LabelRule:
        """Return a rule that gives the same sequence of labels to the pages from `first` on."""
        return LabelRule(first, self.style, self.prefix, self.start)


UNLABELLED = LabelRule(1, "D", "", 1)
"""The rule of a document without rules: the label of a page is its physical number."""


def read_labels(document: Any) -> tuple[LabelRule, ...]:
    """Return the page label rules of an open PDF, ordered by first page; the first rule is for page 1.

    Rules for pages that do not exist are left out. PyMuPDF's reader truncates prefixes at slashes and does not decode
    UTF-16.
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
    """Yield the 1-based page and the label dictionary of each entry of a number tree (ISO 32000-1, 7.9.7), within
    limits.
    """
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
    """Return label rules for a document that has only `pages` (in ascending order), so that each keeps its label of
    `rules`.
    """
    kept: list[LabelRule] = []
    place = 0
    for position, page in enumerate(pages, 1):
        while place + 1 < len(rules) and rules[place + 1].first <= page:
            place += 1
        rule = rules[place].at(page).moved(position)
        if not kept or kept[-1].at(position) != rule:
            kept.append(rule)
    return kept
