"""The result of verifying a quote."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.quotes.gaps import Gap
from citekit.domain.quotes.hidden import NOT_VISIBLE


class Finding(StrEnum):
    """Whether and how a quote occurs."""

    EXACT = "exact"
    NORMALISED = "normalised"
    ALTERED = "altered"
    ELSEWHERE = "elsewhere"
    ABSENT = "absent"
    UNREAD = "unread"


@frozen
class QuotePlace:
    """An occurrence of a quote. `text` is that of the source; `differences` names the differences, empty if it is
    exact.

    `gaps` are the omissions at its ellipses, in order. `changes` are symbols whose case means something else in the
    quote than in the source. `line` is the whole line or table row around the quote, or the lines if it has several.
    """

    address: Address
    text: str
    differences: tuple[str, ...] = ()
    note: str = ""
    gaps: tuple[Gap, ...] = ()
    changes: tuple[str, ...] = ()
    line: str = ""

    @property
    def visible(self) -> bool:
        """Whether readers see it: False if the words are hidden, as `note` says."""
        return self.note != NOT_VISIBLE


@frozen
class NearPlace:
    """A passage that is similar to the quote. `similarity` is the share of common words, from 0 to 1."""

    address: Address
    text: str
    similarity: float


@frozen(kw_only=True)
class QuoteVerdict:
    """The result. `asked` is the requested address, or None for the whole resource.

    `places` are the occurrences of the quote, best first: inside the requested address for `exact` and `normalised`,
    outside it for `elsewhere`. For `altered`, they have the same words, but the quote omits or changes something that
    can change their meaning (see the `gaps` and `changes` of each). `more` is True if there are others. `near` is given
    only for `absent` and `unread`. `unread` has the numbers of the pages that were not read because that would take too
    long. If there are any, words that occur on no other page are `unread`, not `absent`.
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
        """Whether the quote is at the requested address, visible to readers."""
        return self.finding in (Finding.EXACT, Finding.NORMALISED) and self.visible

    @property
    def visible(self) -> bool:
        """Whether readers see the words of the first occurrence; True if there is none."""
        return not self.places or self.places[0].visible


@frozen
class QuoteLookup:
    """The result of looking for a quote in all mapped files.

    `verdict` is that of the file with the best result, with the places in other files; None if no file has the words.
    `searched` counts the files whose text was searched. `is_cut` is true if more files or pages have the words than were
    compared. `skipped` counts the files that could not be searched.
    """

    verdict: QuoteVerdict | None
    searched: int
    is_cut: bool = False
    skipped: int = 0
