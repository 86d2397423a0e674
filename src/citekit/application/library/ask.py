"""Answer a question with places in books."""

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
"""Entries that are looked at, by vector and by words each, at least."""

COPIES = 10
"""Addresses of the same text elsewhere that a hit names at most."""

NEIGHBOURS = 2
"""Chunks before and after a hit that a comprehensive answer holds."""

QUERY_LIMIT = 10_000
"""Characters of a question."""

NEARNESS = 0.4
"""What being nearest in meaning counts for a passage, beside the share of the question's words that it has (0 to 1)."""

SURROUNDINGS = 6000
"""Characters of a chapter around a hit."""

ANSWER_CHARACTERS = 50_000
"""Characters of all chapters that one answer holds; what is cut off is said, and its address opens it."""


class ContextMode(StrEnum):
    """The context of the hits: none, the chapter of each, or also the chunks around it."""

    PRECISE = "precise"
    CONTEXTUAL = "contextual"
    COMPREHENSIVE = "comprehensive"

    @classmethod
    def of(cls, text: str) -> ContextMode:
        """The mode of that name; `PRECISE` for any other text."""
        return cls(text) if text in set(cls) else cls.PRECISE


@frozen(kw_only=True)
class AskRequest:
    """A question in words; hits score at least `threshold` (0 to 1), and at most `limit` are given."""

    query: str
    collection: str
    limit: int = 5
    threshold: float = 0.5
    mode: ContextMode = ContextMode.PRECISE
    where: Where = field(factory=Where)


@frozen(kw_only=True)
class Chunk:
    """A chunk as the index has it; `payload` holds its other fields.

    The text of a `foreign` one is left out: nobody here knows that it is in the book.
    """

    id: str
    text: str
    address: str
    payload: Mapping[str, Any] = field(repr=False)
    foreign: bool = False

    @property
    def sequence(self) -> int:
        """Which chunk of its chapter it is, from 0."""
        return int(self.payload.get("sequence_index", 0))


@frozen(kw_only=True)
class Parent:
    """The chapter of a hit: its text, or as much around its best hit as `truncated` leaves; its address opens it."""

    id: str
    full_text: str
    address: str
    truncated: bool
    payload: Mapping[str, Any] = field(repr=False)


@frozen(kw_only=True)
class Hit:
    """A chunk that answers, and the passage of it that answers best, with an address of its own.

    `score` is from 0 to 1; `dense` and `lexical` are the parts it is made of, None where that side did not find it. `stale`
    says that the file has been mapped again since it was ingested, so that the address may open something else. `around` is
    the chapter's text around the chunk, where context was wanted. `copies` are the addresses of lower hits with the same
    text, or a part of it, which are no hits of their own.
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
        """The id of its chapter, None where the book was ingested flat."""
        parent = self.chunk.payload.get("parent")
        return parent if isinstance(parent, str) else None

    @property
    def address(self) -> Address:
        """Where the chunk is."""
        return parse_address(self.chunk.address)


@frozen(kw_only=True)
class Answers:
    """The hits, the best first, and the chapters that they are from."""

    request: AskRequest
    hits: Sequence[Hit] = field(converter=tuple[Hit, ...])
    parents: Sequence[Parent] = field(default=(), converter=tuple[Parent, ...])


@frozen
class Ask:
    """Finds by meaning and by words at once."""

    embedder: Embedder
    index: VectorIndex
    ledger: Ledger
    maps: MapStore

    def __call__(self, request: AskRequest) -> Answers:
        """The hits. Raises `RequestRefused` for an empty or endless question, and what the ports raise."""
        query = request.query.strip()
        if not query:
            raise RequestRefused("The question is empty: ask in words.")
        if request.limit < 1:
            raise RequestRefused(f"At least one hit is given, not {request.limit}.")
        if len(query) > QUERY_LIMIT:
            raise RequestRefused(f"The question has {len(query)} characters; at most {QUERY_LIMIT} are read.")
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
                break  # else copies of one text may have taken the places of others
        return self._in_context(Answers(request=request, hits=hits))

    def _check_model(self, collection: str) -> None:
        facts = self.index.facts(collection)
        if facts is not None and facts.model != self.embedder.identity:
            raise ModelMismatch(
                f"The collection '{collection}' holds vectors of {facts.model}, and the embedder in use is "
                f"{self.embedder.identity}: choose that one again (CITEKIT_EMBEDDER), name another collection, or make "
                f"this one again: citekit library rebuild --collection {collection}"
            )

    def _hits(
        self, request: AskRequest, ranked: Sequence[Ranked], words: SparseVector, hidden: Container[str]
    ) -> list[Hit]:
        """The first that are to be shown: not those of books whose ingest was cut off, and each text once."""
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
        """The hit, stale where the map in use is of other bytes."""
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
        """The chunks of each chapter, in order; all fetched at once."""
        families: dict[str, list[Chunk]] = {parent: [] for parent in parents}
        for entry in self.index.matching(collection, Where({"parent": parents})):
            families[str(entry.payload["parent"])].append(_chunk(entry))
        return {parent: sorted(family, key=lambda chunk: chunk.sequence) for parent, family in families.items()}


@define
class _DistinctHits:
    """Hits, the best first, of which none only repeats what a better one says."""

    found: list[Hit] = field(factory=list)
    _said: list[frozenset[str]] = field(factory=list)

    def add(self, hit: Hit) -> None:
        """Take the hit, or note its address with the better hit that says all of it."""
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
    """The chapters, each with the same share of the room, around the best hit in it."""
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
