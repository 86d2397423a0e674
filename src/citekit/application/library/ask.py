"""Answers a question with passages from the ingested books."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from shlex import quote
from typing import Protocol

from attrs import define, evolve, field, frozen

from citekit.application.library.answers import LEAST_HITS, Answers, AskRequest, Chunk, ContextMode, Hit, Parent
from citekit.application.library.hits_on_pages import BookPages, hits_on_pages
from citekit.application.library.index_entries import chunk_of
from citekit.application.rank_pages import RankPages
from citekit.domain.errors import Cancelled, CiteKitError, RequestRefused, RerankerUnavailable
from citekit.domain.library.folding import sentences_of
from citekit.domain.library.fusion import Ranked, calibration_of, fuse, share_of
from citekit.domain.library.ledger import LedgerEntry
from citekit.domain.library.lexical import query_words
from citekit.domain.library.vectors import Entry, Found, Question, Where, model_mismatch
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex

PAGES = 20
"""The minimum number of best pages that are requested from the ranking."""

CANDIDATES = 100
"""The minimum number of index entries that are requested from each search."""

COPIES = 10
"""The maximum number of addresses of duplicate texts per hit."""

NEIGHBORS = 2
"""The number of chunks on each side of a hit in a comprehensive answer."""

QUERY_LIMIT = 10_000
"""The maximum length of a question in characters."""

SURROUNDINGS = 6000
"""The maximum length of the chapter text around a hit, in characters."""

ANSWER_CHARACTERS = 50_000
"""The maximum total length of the chapter texts in an answer, in characters."""


@frozen
class Ask:
    """Finds chunks that answer a question: those on the pages that rank best.

    If the text of a book cannot be read, the vector index alone ranks its chunks. Commands in error messages name the
    `home`, if it is given.
    """

    embedder: Embedder
    index: VectorIndex
    ledger: Ledger
    maps: MapStore
    rank: RankPages
    home: str = ""

    def __call__(self, request: AskRequest) -> Answers:
        """Return the hits, and their chapters if the mode of the request asks for context.

        Raise `RequestRefused` for an empty or too long question or a limit below 1, `ModelMismatch` if the collection
        has another embedding model, and the errors of the ports.
        """
        query = request.query.strip()
        if not query:
            raise RequestRefused("The question is empty. Enter some words.")
        if request.limit < 1:
            raise RequestRefused(f"The limit must be at least 1, not {request.limit}.")
        if len(query) > QUERY_LIMIT:
            raise RequestRefused(f"The question has {len(query):,} characters. The maximum is {QUERY_LIMIT:,}.")
        self._check_model(request.collection)
        books = self.ledger.books(request.collection)
        incomplete = [*self.ledger.unfinished(request.collection), *(each for each in books if each.replacing)]
        hidden = {key for each in (*incomplete, *books) for key in each.hidden_keys}
        words, vector = query_words(query), self.embedder.query(query)
        pages = self._pages(query, request, books)
        hits: list[Hit] = []
        for factor in (10, 100) if incomplete else (1, 10, 100):
            looked_at = max(CANDIDATES, 5 * request.limit) * factor
            ranked, is_all = self._ranked(request, Question(vector, words, looked_at, request.where), pages)
            hits = self._distinct(request, ranked, hidden)
            crowded_out = any(hit.copies for hit in hits) and len(hits) < request.limit
            if not crowded_out or is_all:
                break  # otherwise, duplicates may have displaced other hits: search again with more candidates
        return self._in_context(Answers(request=request, hits=_strong(hits, request.threshold)))

    def _pages(self, query: str, request: AskRequest, ingested: Sequence[LedgerEntry]) -> BookPages:
        """Rank the pages of the books whose current map is of the bytes that were ingested."""
        books = {}
        for entry in ingested:
            if _accepts(request.where, entry):
                with suppress(CiteKitError):
                    if self.maps.card(entry.resource_id).source_hash == entry.digest.hex:
                        books[entry.resource_id] = entry.index_key
        try:
            found = self.rank(query, list(books), limit=max(PAGES, 3 * request.limit)) if books else None
        except (Cancelled, RerankerUnavailable):
            raise
        except CiteKitError:  # no words, or the only book cannot be read
            found = None
        if found is None:
            return BookPages()
        rankable = frozenset(digest for name, digest in books.items() if name not in found.skipped)
        return BookPages([(books[page.resource_id], page) for page in found.pages], rankable)

    def _ranked(self, request: AskRequest, question: Question, pages: BookPages) -> tuple[Iterator[Hit], bool]:
        """Return the hits, best first, and whether these are all: a search for more candidates would find no others."""
        assert question.words is not None
        found = self.index.search(request.collection, question)
        chunks = self._chunks(request.collection, found)
        is_all = max(len(found.dense), len(found.lexical)) < question.limit
        if pages.books:
            where = Where({**request.where.fields, "digest": pages.books})
            near = self.index.search(request.collection, evolve(question, where=where))
            chunks = {**self._chunks(request.collection, near), **chunks}
        share = share_of(self.embedder.identity.name)
        hits, lacking = hits_on_pages(pages, list(chunks.values()), question.words, share)
        if lacking:  # books with a ranked page on which neither search found a chunk
            entries = self.index.matching(request.collection, Where({"digest": tuple(lacking)}))
            for entry in entries:
                if entry.payload.get("kind") == "chunk" and entry.id not in chunks:
                    chunks[entry.id] = Ranked(entry.id, 0.0, None, None, None), entry
            hits, _ = hits_on_pages(pages, list(chunks.values()), question.words, share)
        return hits, is_all

    def _chunks(self, collection: str, found: Found) -> dict[str, tuple[Ranked, Entry]]:
        """Return the chunks in `found`, best first, by their IDs."""
        ranked = fuse(found, len(found.dense) + len(found.lexical), calibration_of(self.embedder.identity.name))
        entries = {entry.id: entry for entry in self.index.fetch(collection, [each.group for each in ranked])}
        return {each.group: (each, entries[each.group]) for each in ranked if each.group in entries}

    def _check_model(self, collection: str) -> None:
        facts = self.index.facts(collection)
        if facts is not None and facts.model != self.embedder.identity:
            home = f" --home {quote(self.home)}" if self.home else ""
            raise model_mismatch(collection, facts.model, self.embedder.identity, home)

    def _distinct(self, request: AskRequest, ranked: Iterable[Hit], hidden: Container[str]) -> list[Hit]:
        """Return the first `limit` hits, without duplicate texts and without chunks of the `hidden` copies of books."""
        hits = _DistinctHits()
        for hit in ranked:
            if hit.chunk.index_key not in hidden:
                hits.add(hit)
            if len(hits.found) == request.limit:
                break
        return [self._dated(hit) for hit in hits.found]

    def _dated(self, hit: Hit) -> Hit:
        """Return the hit, marked as stale if the current map is of other bytes."""
        try:
            digest = self.maps.card(hit.chunk.resource_id).source_hash
        except CiteKitError:
            return hit
        return hit if digest is None or digest == hit.chunk.digest else evolve(hit, stale=True)

    def _in_context(self, answers: Answers) -> Answers:
        request = answers.request
        wanted = tuple(dict.fromkeys(hit.parent_id for hit in answers.hits if hit.parent_id is not None))
        if request.mode is ContextMode.PRECISE or not wanted:
            return answers
        families = self._families(request.collection, wanted)
        hits = [_surrounded(hit, families.get(hit.parent_id or "", ()), request.mode) for hit in answers.hits]
        return evolve(answers, hits=hits, parents=_parents(families, answers.hits))

    def _families(self, collection: str, parents: tuple[str, ...]) -> dict[str, list[Chunk]]:
        """Return the chunks of each chapter, in order."""
        families: dict[str, list[Chunk]] = {parent: [] for parent in parents}
        for entry in self.index.matching(collection, Where({"parent": parents})):
            chunk = chunk_of(entry)
            families[str(chunk.parent)].append(chunk)
        return {parent: sorted(family, key=lambda chunk: chunk.sequence) for parent, family in families.items()}


@define
class _DistinctHits:
    """Hits, best first, without those whose text is contained in a better hit."""

    found: list[Hit] = field(factory=list)
    _said: list[frozenset[str]] = field(factory=list)

    def add(self, hit: Hit) -> None:
        """Add the hit, or add its address to the better hit that contains its text."""
        says = sentences_of(hit.chunk.text)
        at = None if hit.chunk.foreign else next((at for at, said in enumerate(self._said) if says <= said), None)
        if at is None:
            self.found.append(hit)
            self._said.append(says)
        elif len(self.found[at].copies) < COPIES:
            better = self.found[at]
            self.found[at] = evolve(better, copies=(*better.copies, hit.chunk.address))


def _strong(hits: Sequence[Hit], threshold: float) -> list[Hit]:
    """Return the hits that reach the threshold, and those of the others, marked as weak, that are among the first
    `LEAST_HITS`.
    """
    kept = [hit if hit.score >= threshold else evolve(hit, weak=True) for hit in hits]
    return [hit for number, hit in enumerate(kept) if not hit.weak or number < LEAST_HITS]


def _accepts(where: Where, entry: LedgerEntry) -> bool:
    known: dict[str, str | int | None] = {
        "digest": entry.index_key,
        "language": entry.language,
        "book_id": entry.book_id,
    }
    return all(known.get(name) in accepted for name, accepted in where.fields.items())


def _surrounded(hit: Hit, family: Sequence[Chunk], mode: ContextMode) -> Hit:
    here = hit.chunk.sequence
    near = [chunk for chunk in family if chunk.id != hit.chunk.id and abs(chunk.sequence - here) <= NEIGHBORS]
    around = surroundings(family, here, SURROUNDINGS)[0] if family else None
    return evolve(hit, around=around, siblings=near if mode is ContextMode.COMPREHENSIVE else ())


def _parents(families: Mapping[str, Sequence[Chunk]], hits: Sequence[Hit]) -> list[Parent]:
    """Return the chapters. Each has at most its share of `ANSWER_CHARACTERS`, around its best hit."""
    parents = []
    for identifier, family in families.items():
        if not family:
            continue
        best = next(hit for hit in hits if hit.parent_id == identifier)
        text, truncated = surroundings(family, best.chunk.sequence, ANSWER_CHARACTERS // len(families))
        parents.append(Parent(id=identifier, full_text=text, truncated=truncated, first=family[0]))
    return parents


class Piece(Protocol):
    """A chunk of a chapter."""

    @property
    def text(self) -> str:
        """The text of the chunk."""

    @property
    def sequence(self) -> int:
        """The position of the chunk in its chapter."""


def surroundings(family: Sequence[Piece], sequence: int, room: int) -> tuple[str, bool]:
    """Return the text around a chunk in its chapter, and whether any chunk of the chapter was left out.

    `sequence` identifies the chunk in `family`. Its neighbors are added from near to far, on both sides, as long as the
    total is at most `room` characters. The chunk itself is always included.
    """
    here = next((place for place, piece in enumerate(family) if piece.sequence == sequence), 0)
    first = last = here
    size = len(family[here].text) if family else 0
    while first > 0 or last < len(family) - 1:
        before = len(family[first - 1].text) + 1 if first > 0 else None
        after = len(family[last + 1].text) + 1 if last < len(family) - 1 else None
        earlier = before is not None and (after is None or here - first <= last - here)
        step = before if earlier else after
        if step is None or size + step > room:
            break
        first, last, size = (first - 1, last, size + step) if earlier else (first, last + 1, size + step)
    return "\n".join(piece.text for piece in family[first : last + 1]), last - first + 1 < len(family)
