"""Chooses the chunks that represent the best-ranked pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import field, frozen

from citekit.application.library.answers import Chunk, Hit, Passage
from citekit.application.library.index_entries import chunk_of
from citekit.domain.address import parse_address
from citekit.domain.library.fusion import Ranked, mixed
from citekit.domain.library.lexical import overlap
from citekit.domain.library.vectors import Entry, SparseVector
from citekit.domain.locations import Location
from citekit.domain.ranking.ranked import RankedPage

NEARNESS = 0.4
"""The weight of being the nearest passage by meaning, relative to the share of query words in a passage (0 to 1)."""


@frozen
class BookPages:
    """The ranked pages of books, best first, each with the name of its book in the index.

    `rankable` are the names of all books whose pages were ranked.
    """

    pages: Sequence[tuple[str, RankedPage]] = ()
    rankable: frozenset[str] = frozenset()

    @property
    def books(self) -> tuple[str, ...]:
        """The names in the index of the books with ranked pages, best first."""
        return tuple(dict.fromkeys(key for key, _ in self.pages))


@frozen
class _RatedPassage:
    passage: Passage
    location: Location
    worth: float


@frozen
class _OnBook:
    """A found chunk, its location, and its passages, which are compared with the question only if necessary."""

    ranked: Ranked
    chunk: Chunk = field(repr=False)
    words: SparseVector = field(repr=False)

    @cached_property
    def location(self) -> Location:
        return parse_address(self.chunk.address).location

    @cached_property
    def passages(self) -> Sequence[_RatedPassage]:
        return [self._rated(each) for each in self.chunk.passages]

    def _rated(self, passage: Passage) -> _RatedPassage:
        worth = overlap(self.words, passage.text) + NEARNESS * (passage.id == self.ranked.passage)
        return _RatedPassage(passage, parse_address(passage.address).location, worth)

    def on(self, place: Location) -> tuple[float, _RatedPassage | None] | None:
        """Return the best passage that overlaps `place`, and its quality.

        Return None if the chunk does not overlap `place`, and (-1.0, None) if only its passages do not.
        """
        if not self.location.overlaps(place):
            return None
        near = [each for each in self.passages if each.location.overlaps(place)]
        best = max(near, key=lambda each: each.worth, default=None)
        return (-1.0, None) if best is None else (best.worth, best)


@frozen
class _Candidate:
    """A chunk that may become a hit. Its passage is the best on a page, or else the best of the chunk."""

    score: float
    found: _OnBook
    best: _RatedPassage | None = None

    def hit(self) -> Hit:
        found = self.found
        best = self.best or max(found.passages, key=lambda each: each.worth, default=None)
        passage = None if best is None else best.passage
        return Hit(
            score=self.score,
            chunk=found.chunk,
            dense=found.ranked.dense,
            lexical=found.ranked.lexical,
            passage=None if passage is None else passage.text,
            passage_address=None if passage is None else passage.address,
        )


def hits_on_pages(
    pages: BookPages, found: Sequence[tuple[Ranked, Entry]], words: SparseVector, share: float = 0.0
) -> tuple[Iterator[Hit], frozenset[str]]:
    """Return chunks as hits, best first, and the names of books that have a ranked page without a found chunk.

    `found` are the chunks that the vector index found, best first. The best chunk of a ranked page gets the score of
    the page. It is the chunk with the best passage among those that have the best lines of the page. If no chunk has
    these lines, all chunks on the page are compared. Chunks of books that are not rankable keep their own scores.
    `share` is the weight of a chunk's own score (`share_of`).
    """
    books: defaultdict[str, list[_OnBook]] = defaultdict(list)
    hits: list[_Candidate] = []
    for ranked, entry in found:
        each = _OnBook(ranked, chunk_of(entry), words)
        if each.chunk.index_key not in pages.rankable:
            hits.append(_Candidate(ranked.score, each))
        else:
            books[each.chunk.index_key].append(each)
    used: set[str] = set()
    lacking: set[str] = set()
    for key, page in pages.pages:
        there = _on(books[key], page.location) or _on(books[key], page.extent)
        if not there:
            lacking.add(key)
            continue
        (_, passage), best = max(there, key=lambda each: each[0][0])
        if best.chunk.id not in used:
            used.add(best.chunk.id)
            score = mixed(page.score, best.ranked.score, share) if share else page.score
            hits.append(_Candidate(score, best, passage))
    for key, chunks in books.items():
        hits += _others(pages, key, [each for each in chunks if each.chunk.id not in used], share)
    hits.sort(key=lambda each: -each.score)
    return (each.hit() for each in hits), frozenset(lacking)


def _others(pages: BookPages, key: str, chunks: Sequence[_OnBook], share: float) -> Iterator[_Candidate]:
    """Yield chunks of a book that are not the best of a page, as hits that score no higher than their page.

    A chunk on no ranked page scores no higher than the lowest-scored page. With a `share`, the scores are mixed
    instead.
    """
    last = min((page.score for _, page in pages.pages), default=1.0)
    own = [page for of, page in pages.pages if of == key]
    for each in chunks:
        scores = [page.score for page in own if each.location.overlaps(page.extent)]
        limit = max(scores, default=last)
        score = mixed(limit, each.ranked.score, share) if share else min(each.ranked.score, limit)
        yield _Candidate(score, each)


def _on(chunks: Sequence[_OnBook], place: Location) -> list[tuple[tuple[float, _RatedPassage | None], _OnBook]]:
    """Return the chunks that overlap `place`, each with what `_OnBook.on` returns."""
    return [(held, each) for each in chunks if (held := each.on(place)) is not None]
