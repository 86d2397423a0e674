"""What is said of a quote."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen

from citekit.domain.address import Address


class Finding(StrEnum):
    """The answer: is it there?"""

    EXACT = "exact"
    NORMALISED = "normalised"
    ELSEWHERE = "elsewhere"
    ABSENT = "absent"


@frozen
class QuotePlace:
    """Where a quote stands: `text` is the source's; `differences` says what differs, nothing where it is exact."""

    address: Address
    text: str
    differences: tuple[str, ...] = ()
    note: str = ""


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
    for `elsewhere`; `more` says that there are others. `near` only where it is absent.
    """

    finding: Finding
    resource_id: str
    asked: Address | None
    quote: str
    places: Sequence[QuotePlace] = field(default=(), converter=tuple[QuotePlace, ...])
    more: bool = False
    near: NearPlace | None = None

    @property
    def holds(self) -> bool:
        """Whether the quote stands in the place asked."""
        return self.finding in (Finding.EXACT, Finding.NORMALISED)
