"""Answers a question with passages from the ingested books."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import define, evolve, field, frozen

from citekit.application.library.chunk_context import surroundings
from citekit.domain.address import Address, parse_address
from citekit.domain.errors import CiteKitError, ModelMismatch, RequestRefused
from citekit.domain.library.folding import sentences_of
from citekit.domain.library.fusion import Ranked, calibration_of, fuse
from citekit.domain.library.lexical import overlap, query_words
from citekit.domain.library.vectors import Entry, Question, SparseVector, Where
from citekit.domain.ports.embedder import Embedder
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex

CANDIDATES = 100
"""The minimum number of index entries that each search, by vector and by words, returns."""

COPIES = 10
"""The maximum number of addresses of duplicate texts per hit."""

NEIGHBOURS = 2
"""The number of chunks on each side of a hit in a comprehensive answer."""

QUERY_LIMIT = 10_000
"""The maximum length of a question in characters."""

NEARNESS = 0.4
"""The weight of being the nearest passage by meaning, relative to the share of query words that a passage contains (0
to 1).
"""

SURROUNDINGS = 6000
"""The maximum length of the chapter text around a hit, in characters."""

ANSWER_CHARACTERS = 50_000
"""The maximum total length of the chapter texts in an answer, in characters. Truncated chapters are marked as such."""


class ContextMode(StrEnum):
    """The context of the hits: none, the chapter of each hit, or also the neighboring chunks."""

    PRECISE = "precise"
    CONTEXTUAL = "contextual"
    COMPREHENSIVE = "comprehensive"

    @classmethod
    def of(cls, text: str) -> ContextMode:
        """Return the mode with that name; `PRECISE` for any other text."""
        return cls(text) if text in set(cls) else cls.PRECISE


@frozen(kw_only=True)
class AskRequest:
    """A question. At most `limit` hits with a score of at least `threshold` (0 to 1) are returned."""

    query: str
    collection: str
    limit: int = 5
    threshold: float = 0.5
    mode: ContextMode = ContextMode.PRECISE
    where: Where = field(factory=Where)


@frozen(kw_only=True)
class Chunk:
    """A chunk from the index. `payload` holds its other fields.

    If it is `foreign`, its text is omitted, because it came with an index from another home and may not be in the book.
    """

    id: str
    text: str
    address: str
    payload: Mapping[str, Any] = field(repr=False)
    foreign: bool = False

    @property
    def sequence(self) -> int:
        """The position of the chunk in its chapter, from 0."""
        return int(self.payload.get("sequence_index", 0))


@frozen(kw_only=True)
class Parent:
    """The chapter of a hit. If it is `truncated`, `full_text` is only the text around the best hit."""

    id: str
    full_text: str
    address: str
    truncated: bool
    payload: Mapping[str, Any] = field(repr=False)


@frozen(kw_only=True)
class Hit:
    """A chunk that answers the question, and its best passage with its own address.

    `score` is from 0 to 1; `dense` and `lexical` are its components, None if that search did not find the chunk.
    `stale` means that the file was mapped again after it was ingested, so the address may refer to something else.
    `around` is the chapter text around the chunk, if context was requested. `copies` are the addresses of lower-ranked
    chunks whose text is contained in this one; they are not separate hits.
    """

    score: float
    chunk: Chunk
    dense: float | None
    lexical: float | None
    passage: str | None = None
    passage_address: str | None = None
    stale: bool = False
    around: str | None = None
    siblings: Sequence[Chunk] = field(default=(), converter=tuple[Chunk, ...])
    copies: Sequence[str] = field(default=(), converter=tuple[str, ...])

    @property
    def parent_id(self) -> str | None:
        """The ID of the chapter; None if the book was ingested without chapters."""
        parent = self.chunk.payload.get("parent")
        return parent if isinstance(parent, str) else None

    @property
    def address(self) -> Address:
        """The address of the chunk."""
        return parse_address(self.chunk.address)


@frozen(kw_only=True)
class Answers:
    """The hits, best first, and their chapters."""

    request: AskRequest
    hits: Sequence[Hit] = field(converter=tuple[Hit, ...])
    parents: Sequence[Parent] = field(default=(), converter=tuple[Parent, ...])


@frozen
class Ask:
    """Searches by meaning and by words."""

    embedder: Embedder
    index: VectorIndex
    ledger: Ledger
    maps: MapStore

    def __call__(self, request: AskRequest) -> Answers:
        """Find the hits. Raise `RequestRefused` for an empty or too long question, and what the ports raise."""
        query = request.query.strip()
        if not query:
            raise RequestRefused("The question is empty. Enter some words.")
        if request.limit < 1:
            raise RequestRefused(f"The limit must be at least 1, not {request.limit}.")
        if len(query) > QUERY_LIMIT:
            raise RequestRefused(f"The question has {len(query)} characters. The maximum is {QUERY_LIMIT}.")
        self._check_model(request.collection)
        hidden = {each.digest.hex for each in self.ledger.unfinished(request.collection)}
        words, vector = query_words(query), self.embedder.query(query)
        calibration = calibration_of(self.embedder.identity.name)
        hits: list[Hit] = []
        for factor in (10, 100) if hidden else (1, 10, 100):
            looked_at = max(CANDIDATES, 5 * request.limit) * factor
            found = self.index.search(request.collection, Question(vector, words, looked_at, request.where))
            some = (3 * request.limit + 10) * factor
            ranked = [each for each in fuse(found, some, calibration) if each.score >= request.threshold]
            hits = self._hits(request, ranked, words, hidden)
            crowded_out = any(hit.copies for hit in hits) and len(hits) < request.limit
            if not crowded_out or max(len(found.dense), len(found.lexical)) < looked_at:
                break  # otherwise, duplicates may have displaced other hits: search again with more candidates
        return self._in_context(Answers(request=request, hits=hits))

    def _check_model(self, collection: str) -> None:
        facts = self.index.facts(collection)
        if facts is not None and facts.model != self.embedder.identity:
            raise ModelMismatch(
                f"The collection '{collection}' contains vectors of {facts.model}, but the configured embedder is "
                f"{self.embedder.identity}. Set CITEKIT_EMBEDDER to that model, use another collection, or rebuild this one: "
                f"citekit library rebuild --collection {collection}"
            )

    def _hits(
        self, request: AskRequest, ranked: Sequence[Ranked], words: SparseVector, hidden: Container[str]
    ) -> list[Hit]:
        """Return the first hits, without duplicate texts and without books whose ingest is unfinished."""
        hits = _DistinctHits()
        for first in range(0, len(ranked), request.limit):
            batch = ranked[first : first + request.limit]
            entries = {
                entry.id: entry for entry in self.index.fetch(request.collection, [each.group for each in batch])
            }
            for each in batch:
                entry = entries.get(each.group)
                if entry is not None and entry.payload.get("digest") not in hidden:
                    hits.add(_hit(each, entry, words))
                if len(hits.found) == request.limit:
                    return [self._dated(hit) for hit in hits.found]
        return [self._dated(hit) for hit in hits.found]

    def _dated(self, hit: Hit) -> Hit:
        """Return the hit, marked as stale if the current map is of other bytes."""
        payload = hit.chunk.payload
        try:
            digest = self.maps.get(str(payload.get("resource_id"))).source_digest
        except CiteKitError:
            return hit
        return hit if digest is None or digest.hex == payload.get("digest") else evolve(hit, stale=True)

    def _in_context(self, answers: Answers) -> Answers:
        request = answers.request
        wanted = tuple(dict.fromkeys(hit.parent_id for hit in answers.hits if hit.parent_id is not None))
        if request.mode is ContextMode.PRECISE or not wanted:
            return answers
        families = self._families(request.collection, wanted)
        hits = [_surrounded(hit, families.get(hit.parent_id or "", ()), request.mode) for hit in answers.hits]
        return evolve(answers, hits=hits, parents=_parents(families, answers.hits))

    def _families(self, collection: str, parents: tuple[str, ...]) -> dict[str, list[Chunk]]:
        """Return the chunks of each chapter, in order, from a single query."""
        families: dict[str, list[Chunk]] = {parent: [] for parent in parents}
        for entry in self.index.matching(collection, Where({"parent": parents})):
            families[str(entry.payload["parent"])].append(_chunk(entry))
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


def _hit(ranked: Ranked, entry: Entry, words: SparseVector) -> Hit:
    chunk = _chunk(entry)
    hit = Hit(score=ranked.score, chunk=chunk, dense=ranked.dense, lexical=ranked.lexical)
    passages = [(each, _slice(chunk, each)) for each in entry.payload.get("passages", ())]
    if not passages or chunk.foreign:
        return hit
    nearest = ranked.passage
    best, text = max(passages, key=lambda each: overlap(words, each[1]) + NEARNESS * (each[0]["id"] == nearest))
    return evolve(hit, passage=text, passage_address=str(best["address"]))


def _slice(chunk: Chunk, passage: Mapping[str, Any]) -> str:
    start = int(chunk.payload["start"])
    return chunk.text[max(0, int(passage["start"]) - start) : int(passage["end"]) - start]


def _chunk(entry: Entry) -> Chunk:
    payload = entry.payload
    text = "" if entry.foreign else str(payload["text"])
    return Chunk(id=entry.id, text=text, address=str(payload["address"]), payload=payload, foreign=entry.foreign)


def _surrounded(hit: Hit, family: Sequence[Chunk], mode: ContextMode) -> Hit:
    here = hit.chunk.sequence
    near = [chunk for chunk in family if chunk.id != hit.chunk.id and abs(chunk.sequence - here) <= NEIGHBOURS]
    around = surroundings(family, here, SURROUNDINGS)[0] if family else None
    return evolve(hit, around=around, siblings=near if mode is ContextMode.COMPREHENSIVE else ())


def _parents(families: Mapping[str, Sequence[Chunk]], hits: Sequence[Hit]) -> list[Parent]:
    """Return the chapters. Each gets the same share of `ANSWER_CHARACTERS`, around its best hit."""
    parents = []
    for identifier, family in families.items():
        if not family:
            continue
        best = next(hit for hit in hits if hit.parent_id == identifier)
        text, truncated = surroundings(family, best.chunk.sequence, ANSWER_CHARACTERS // len(families))
        first = family[0].payload
        address = str(first.get("parent_address", ""))
        parents.append(Parent(id=identifier, full_text=text, address=address, truncated=truncated, payload=first))
    return parents
