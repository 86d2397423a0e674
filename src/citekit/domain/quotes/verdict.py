"""Defines the result of verifying a quote."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.quotes.gaps import Gap
from citekit.domain.quotes.hidden import NOT_VISIBLE
from citekit.domain.quotes.verdict_finding import Finding


@frozen
class QuotePlace:
    """An occurrence of a quote.

    `text` is the text of the source, and `differences` names the kinds of difference of the quote from it. `gaps` are
    the omissions at the quote's ellipses, in order. `changes` are symbols whose case means something else in the quote
    than in the source, and differences in minus signs. `line` has the whole lines or table rows around the quote.
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
        """Whether readers of the file see this passage."""
        return self.note != NOT_VISIBLE


@frozen
class NearPlace:
    """A passage that is similar to the quote. `similarity` is from 0 to 1; see `Near`."""

    address: Address
    text: str
    similarity: float


@frozen(kw_only=True)
class QuoteVerdict:
    """The result of verifying a quote. `asked` is the requested address, or None for the whole resource.

    `places` are the occurrences of the quote, best first: inside the requested address if the finding is `exact` or
    `normalised`, and outside it if the finding is `elsewhere`. If the finding is `altered`, they have the same words,
    but the quote can change their meaning (see their `gaps` and `changes`). `more` is True if other occurrences are not
    listed. `near` is the most similar passage if the finding is `absent` or `unread`. `unread` lists the numbers of
    pages that were not read because that would take too long; a quote that occurs on no other page is then `unread`,
    not `absent`.
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
        """Whether the quote occurs at the requested address in text that readers see."""
        return self.finding in (Finding.EXACT, Finding.NORMALISED) and self.visible

    @property
    def label(self) -> str:
        """The finding for people, such as `exact` or, if readers do not see the words, `exact, not visible`.

        A quote that is absent, but similar to a passage, is `altered`.
        """
        if self.finding is Finding.ABSENT and self.near is not None:
            return Finding.ALTERED.value
        return self.finding.value if self.visible else f"{self.finding.value}, not visible"

    @property
    def altered(self) -> NearPlace | QuotePlace | None:
        """The passage that the quote alters, or None.

        It is the first place if the finding is `altered`, and the most similar passage, if any, if it is `absent`.
        """
        if self.finding is Finding.ALTERED and self.places:
            return self.places[0]
        return self.near if self.finding is Finding.ABSENT else None

    @property
    def visible(self) -> bool:
        """Whether readers see the first occurrence of the quote. True if the quote does not occur."""
        return not self.places or self.places[0].visible


@frozen
class QuoteLookup:
    """The result of looking for a quote in all mapped files.

    `verdict` is the verdict for the file with the best result, with the places in other files added; it is None if no
    file has the words or a similar passage. `searched` counts the files whose text was searched. `is_cut` is true if
    not all files or pages with the words were compared. `skipped` counts the files that could not be searched.
    """

    verdict: QuoteVerdict | None
    searched: int
    is_cut: bool = False
    skipped: int = 0
