"""Chooses the chunks that show the pages that rank best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from citekit.application.library.answers import Chunk, Hit
from citekit.domain.address import parse_address
from citekit.domain.library.fusion import Ranked
from citekit.domain.library.lexical import overlap
from citekit.domain.library.vectors import Entry, SparseVector
from citekit.domain.locations import Location
from citekit.domain.ranking.ranked import RankedPage

NEARNESS = 0.4
"""The weight of being the nearest passage by meaning, relative to the share of query words that a passage contains (0
to 1).
"""


@frozen
class BookPages:
    """The ranked pages of books, best first, each with the digest of its book. `rankable` are the digests of all books
    whose pages were ranked, also of those without a page in the list.
    """

    pages: Sequence[tuple[str, RankedPage]] = ()
    rankable: frozenset[str] = frozenset()

    @property
    def books(self) -> tuple[str, ...]:
        """The digests of the books with ranked pages, best first."""
        return tuple(dict.fromkeys(digest for digest, _ in self.pages))


@frozen
class _Passage:
    text: str
    address: str
    location: Location
    worth: float


@frozen
class _OnBook:
    """A chunk of a book with ranked pages, and its passages."""

    ranked: Ranked
    chunk: Chunk
    location: Location
    passages: Sequence[_Passage] = field(repr=False)

    def on(self, place: Location) -> tuple[float, _Passage | None] | None:
        """Return how good the best passage that overlaps `place` is, and that passage; None if the chunk is elsewhere."""
        near = [each for each in self.passages if each.location.overlaps(place)]
        if near:
            best = max(near, key=lambda each: each.worth)
            return best.worth, best
        return (-1.0, None) if self.location.overlaps(place) else None


def hits_on_pages(
    pages: BookPages, found: Sequence[tuple[Ranked, Entry]], words: SparseVector
) -> tuple[list[Hit], frozenset[str]]:
    """Return a hit for each ranked page, and for each chunk of a book that is not rankable, best first.

    `found` are the chunks that the vector index found, best first. Of several chunks on a page, those with its best lines
    come first, and the one with the best passage is the hit. A chunk is a hit only once. The second value has the digests of
    books with a page of which no chunk was found.
    """
    books: defaultdict[str, list[_OnBook]] = defaultdict(list)
    hits: list[Hit] = []
    for ranked, entry in found:
        digest = str(entry.payload.get("digest"))
        if digest not in pages.rankable:
            hits.append(_hit_of(ranked, entry, words))
        else:
            books[digest].append(_on_book(ranked, entry, words))
    used: set[str] = set()
    lacking: set[str] = set()
    for digest, page in pages.pages:
        there = _on(books[digest], page.location) or _on(books[digest], page.extent)
        if not there:
            lacking.add(digest)
            continue
        (_, passage), best = max(there, key=lambda each: each[0][0])
        if best.chunk.id not in used:
            used.add(best.chunk.id)
            hits.append(_hit(best, page.score, passage))
    for digest, chunks in books.items():
        hits += _others(pages, digest, [each for each in chunks if each.chunk.id not in used])
    return sorted(hits, key=lambda hit: -hit.score), frozenset(lacking)


def _others(pages: BookPages, digest: str, chunks: Sequence[_OnBook]) -> Iterator[Hit]:
    """Yield chunks of a book that are not the best of a page, as hits that score no higher than the page they are on.

    A chunk on no ranked page scores no higher than the last of them.
    """
    last = min((page.score for _, page in pages.pages), default=1.0)
    own = [page for of, page in pages.pages if of == digest]
    for each in chunks:
        scores = [page.score for page in own if each.location.overlaps(page.extent)]
        best = max(each.passages, key=lambda passage: passage.worth, default=None)
        yield _hit(each, min(each.ranked.score, max(scores, default=last)), best)


def _on(chunks: Sequence[_OnBook], place: Location) -> list[tuple[tuple[float, _Passage | None], _OnBook]]:
    """Return the chunks that overlap `place`, each with what `_OnBook.on` returns."""
    return [(held, each) for each in chunks if (held := each.on(place)) is not None]


def _on_book(ranked: Ranked, entry: Entry, words: SparseVector) -> _OnBook:
    chunk = chunk_of(entry)
    return _OnBook(ranked, chunk, parse_address(chunk.address).location, _passages(ranked, entry, chunk, words))


def _hit(found: _OnBook, score: float, passage: _Passage | None) -> Hit:
    return Hit(
        score=score,
        chunk=found.chunk,
        dense=found.ranked.dense,
        lexical=found.ranked.lexical,
        passage=None if passage is None else passage.text,
        passage_address=None if passage is None else passage.address,
    )


def _hit_of(ranked: Ranked, entry: Entry, words: SparseVector) -> Hit:
    """Return a chunk as a hit with the score of the vector index, and with its best passage."""
    found = _on_book(ranked, entry, words)
    return _hit(found, ranked.score, max(found.passages, key=lambda each: each.worth, default=None))


def _passages(ranked: Ranked, entry: Entry, chunk: Chunk, words: SparseVector) -> list[_Passage]:
    if chunk.foreign:
        return []
    found = []
    for each in entry.payload.get("passages", ()):
        text, address = _slice(chunk, each), str(each["address"])
        worth = overlap(words, text) + NEARNESS * (each["id"] == ranked.passage)
        found.append(_Passage(text, address, parse_address(address).location, worth))
    return found


def _slice(chunk: Chunk, passage: Mapping[str, object]) -> str:
    start = int(chunk.payload["start"])
    return chunk.text[max(0, int(str(passage["start"])) - start) : int(str(passage["end"])) - start]


def chunk_of(entry: Entry) -> Chunk:
    """Return the chunk that an entry of the index stores."""
    payload = entry.payload
    text = "" if entry.foreign else str(payload["text"])
    return Chunk(id=entry.id, text=text, address=str(payload["address"]), payload=payload, foreign=entry.foreign)
