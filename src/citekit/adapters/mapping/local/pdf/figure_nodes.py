"""Puts figures and tables below the sections that they stand in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from attrs import define, evolve, field

from citekit.adapters.mapping.local.outline import Draft
from citekit.adapters.mapping.local.pdf.figures import Figure
from citekit.adapters.mapping.local.pdf.pages import PageTexts
from citekit.domain.locations import Pages

LOOKED_AT = 200
"""Sections before a figure that may hold it; only where all of them overlap could it be another."""

Place = tuple[int, int]
"""A page, and how many of its lines come before."""


def with_figures(drafts: Sequence[Draft], figures: Sequence[Figure], texts: PageTexts) -> tuple[Draft, ...]:
    """`drafts` with each figure below the deepest one that holds its page and began before it, in reading order.

    The figures come in reading order.
    """
    return _Shelf(texts).filled(drafts, figures)


@define
class _Shelf:
    _texts: PageTexts
    _begins: dict[tuple[int, str], int] = field(factory=dict)

    def filled(self, drafts: Sequence[Draft], figures: Sequence[Figure]) -> tuple[Draft, ...]:
        if not figures:
            return tuple(drafts)
        begins = [self._begin(draft) for draft in drafts]
        ordered = all(first <= second for first, second in pairwise(begins))
        below: list[list[Figure]] = [[] for _ in drafts]
        loose: list[Figure] = []
        for figure in figures:
            home = self._home(figure, drafts, begins, ordered)
            (loose if home is None else below[home]).append(figure)
        grown = [
            evolve(draft, children=self.filled(draft.children, own)) for draft, own in zip(drafts, below, strict=True)
        ]
        return self._merged(grown, begins, loose)

    def _home(self, figure: Figure, drafts: Sequence[Draft], begins: Sequence[Place], ordered: bool) -> int | None:
        """The last of `drafts` that holds the page and begins before the figure."""
        place = (figure.page, figure.place)
        last = bisect_right(begins, place) if ordered else len(drafts)
        near = range(last - 1, max(last - LOOKED_AT, 0) - 1, -1)
        return next((at for at in near if begins[at] <= place and figure.page in _numbers(drafts[at])), None)

    def _merged(self, drafts: Sequence[Draft], begins: Sequence[Place], loose: Sequence[Figure]) -> tuple[Draft, ...]:
        """The drafts in their order, each loose figure before the first that begins after it."""
        made: list[Draft] = []
        waiting = list(loose)
        for draft, begin in zip(drafts, begins, strict=True):
            while waiting and (waiting[0].page, waiting[0].place) < begin:
                made.append(waiting.pop(0).draft())
            made.append(draft)
        return (*made, *(figure.draft() for figure in waiting))

    def _begin(self, draft: Draft) -> Place:
        """Where the heading of a draft stands; before all lines of its page where it is not found among them."""
        page = _numbers(draft)[0]
        known = (page, draft.title)
        if known not in self._begins:
            found = self._texts.saying(draft.title, page) if self._texts.at_hand(page) else ()
            self._begins[known] = found[0] if found else -1
        return page, self._begins[known]


def _numbers(draft: Draft) -> range:
    assert isinstance(draft.location, Pages)
    numbers = draft.location.numbers
    return range(numbers[0], numbers[-1] + 1)
