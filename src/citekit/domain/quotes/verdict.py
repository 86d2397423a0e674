"""What is said of a quote."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.quotes.gaps import Gap
from citekit.domain.quotes.hidden import NOT_VISIBLE


class Finding(StrEnum):
    """The answer: is it there?"""

    EXACT = "exact"
    NORMALISED = "normalised"
    ALTERED = "altered"
    ELSEWHERE = "elsewhere"
    ABSENT = "absent"
    UNREAD = "unread"


@frozen
class QuotePlace:
    """Where a quote is: `text` is the source's; `differences` says what differs, nothing if it is exact.

    `gaps` are the omissions that its ellipses stand for, in order. `changes` are symbols whose case means something else
    in the quote than in the source.
    """

    address: Address
    text: str
    differences: tuple[str, ...] = ()
    note: str = ""
    gaps: tuple[Gap, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def visible(self) -> bool:
        """Whether a reader sees it: not if the words are hidden, as `note` says."""
        return self.note != NOT_VISIBLE


@frozen
class NearPlace:
    """A passage that is only like the quote: `similarity` is the share of words in common, from 0 to 1."""

    address: Address
    text: str
    similarity: float


@frozen(kw_only=True)
class QuoteVerdict:
    """The answer. `asked` is the place that was named, None for all of the resource.

    `places` are where the quote stands, best first: inside of the place asked for `exact` and `normalised`, outside of it
    for `elsewhere`; for `altered`, where the same words are, but the quote leaves out or changes something that can change
    their meaning (the `gaps` and `changes` of each place say what). `more` says that there are others. `near` is only given
    for `absent` and `unread`. `unread` are the numbers of the pages of the resource that were not read, because that would
    take too long: where there are any, words that are on no other page are `unread`, not `absent`.
    """

    finding: Finding
    resource_id: str
    asked: Address | None
    quote: str
    places: Sequence[QuotePlace] = field(default=(), converter=tuple[QuotePlace, ...])
    more: bool = False
    near: NearPlace | None = None
    unread: Sequence[int] = field(default=(), converter=tuple[int, ...])

    @property
    def holds(self) -> bool:
        """Whether the quote is in the place asked, where a reader sees it."""
        return self.finding in (Finding.EXACT, Finding.NORMALISED) and self.visible

    @property
    def visible(self) -> bool:
        """Whether a reader sees the words at the first of the places; true if there is none."""
        return not self.places or self.places[0].visible
