"""Defines the result of ranking pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from citekit.domain.locations import Location
from citekit.domain.text_search.blocks import TextBlock


@frozen(kw_only=True)
class RankedPage:
    """A page, or a block of a text without pages, that may answer a question.

    `score` is from 0 to 1. `coverage` is the fraction of the question's words on the page, weighted by rarity. `start`
    and `end` are the offsets of the best lines in the text of `block`; `location` is that of these lines, and `extent`
    that of the whole block. `further` has the offsets of other lines with more words of the question, or is None.
    """

    resource_id: str
    score: float
    coverage: float
    block: TextBlock = field(repr=False)
    start: int
    end: int
    location: Location
    extent: Location
    further: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The best lines."""
        return self.block.text[self.start : self.end]


@frozen(kw_only=True)
class RankedPages:
    """The pages that most likely answer a question, best first.

    `searched` counts the documents that could be searched. `stale` has the reason for each resource whose file has
    changed, and `skipped` for each that could not be searched.
    """

    pages: Sequence[RankedPage]
    searched: int
    stale: Mapping[str, str] = field(factory=dict)
    skipped: Mapping[str, str] = field(factory=dict)
