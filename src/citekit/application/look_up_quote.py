"""Looks up which mapped file a quote is from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from citekit.application.find_text import FindText
from citekit.application.verify_quote import PLACES, VerifyQuote
from citekit.domain.errors import Cancelled, CiteKitError
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quote import ways_to_read
from citekit.domain.quotes.verdict import QuoteLookup, QuoteVerdict
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.text_search.limits import HIT_LIMIT
from citekit.domain.words import words_of

LOOKED_UP = 5
"""The maximum number of files in which a quote is compared character by character."""

QUERY_WORDS = 8
"""The maximum number of words of a quote that are looked up in the text index: the longest ones."""

_BEST_FIRST = (
    Finding.EXACT,
    Finding.NORMALISED,
    Finding.ALTERED,
    Finding.ELSEWHERE,
    Finding.UNREAD,
    Finding.ABSENT,
)
_NOT_FOUND = (Finding.UNREAD, Finding.ABSENT)


@frozen
class LookUpQuote:
    """Finds the files that contain the words of a quote, and verifies the quote in the best of them."""

    find_text: FindText
    verify: VerifyQuote

    def __call__(self, quote: str, *, roots: Sequence[Path] = (), progress: Progress = silent) -> QuoteLookup:
        """Look for `quote` in everything that is mapped.

        The first `LOOKED_UP` files that have the longest words of the quote on one page are compared, or else files
        with some of these words. Raise `RequestRefused` for a quote without words or one that is too long.
        """
        ways_to_read(quote)
        words = sorted(dict.fromkeys(words_of(quote)), key=len, reverse=True)[:QUERY_WORDS]
        found = self.find_text(" ".join(words), limit=HIT_LIMIT, roots=roots, progress=progress)
        hits = found.whole
        names = list(dict.fromkeys(hit.address.resource_id for hit in hits or found.hits))
        verdicts, skipped = [], len(found.skipped)
        for name in names[:LOOKED_UP]:
            try:
                verdicts.append(self.verify(name, quote, roots=roots, progress=progress))
            except Cancelled:
                raise
            except CiteKitError:
                skipped += 1
        if found.is_partial:
            verdicts = [each for each in verdicts if each.finding not in _NOT_FOUND or each.near is not None]
        is_cut = found.pages is not None or (bool(hits) and (len(names) > LOOKED_UP or found.total > len(hits)))
        return QuoteLookup(_joined(verdicts), found.searched, is_cut=is_cut, skipped=skipped)


def _joined(verdicts: Sequence[QuoteVerdict]) -> QuoteVerdict | None:
    """Return the best verdict, if any, with the locations in other files where the finding is the same."""
    if not verdicts:
        return None
    best = min(
        verdicts,
        key=lambda each: (not each.visible, _BEST_FIRST.index(each.finding), -each.near.similarity if each.near else 0),
    )
    alike = [each for each in verdicts if each.finding is best.finding and each is not best and each.visible]
    places = [*best.places, *(place for each in alike for place in each.places)]
    return evolve(best, places=places[:PLACES], more=best.more or len(places) > PLACES)
