"""A vector index in memory, in pure Python. Its results are exact and serve as the reference for other indexes."""

from __future__ import annotations

import heapq
import math
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, evolve, field

from citekit.adapters.search.vector_index.entry_rules import (
    checked,
    missing,
    point_id,
    sound,
    sound_vector,
    sound_words,
    values_of,
)
from citekit.adapters.search.vector_index.ranking import found_of
from citekit.domain.library.vectors import (
    CollectionFacts,
    EmbedderIdentity,
    Entry,
    Found,
    Question,
    Scored,
    SparseVector,
    Vector,
    Where,
    model_mismatch,
)
from citekit.domain.ranking.rarity import rarity


@define
class _Collection:
    """A collection: its embedding model and its entries by ID."""

    model: EmbedderIdentity
    entries: dict[str, Entry] = field(factory=dict)


class MemoryVectorIndex:
    """A `VectorIndex` in memory. Every result is exact."""

    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}
        self._lock = threading.RLock()

    @property
    def place(self) -> str:
        """A description of where the index is stored, for messages: `memory`."""
        return "memory"

    def collections(self) -> Sequence[str]:
        """Return the names of all collections, sorted."""
        with self._lock:
            return sorted(self._collections)

    def facts(self, collection: str) -> CollectionFacts | None:
        """Return the model, the number of entries, and the status of a collection; None if it does not exist."""
        with self._lock:
            held = self._collections.get(checked(collection))
            if held is None:
                return None
            return CollectionFacts(collection, held.model, len(held.entries), "green", self.place)

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """Create the collection if it does not exist. Raise `ModelMismatch` if it exists with another embedding model."""
        with self._lock:
            held = self._collections.setdefault(checked(collection), _Collection(model))
        if held.model != model:
            raise model_mismatch(collection, held.model, model)

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """Store entries. An entry replaces an existing one with the same ID.

        Raise `ModelMismatch` if a vector does not have the length of the vectors in the collection.
        """
        held = self._held(collection)
        for entry in entries:
            stored = evolve(
                sound(entry, held.model.dimensions, collection), id=point_id(entry.id), payload=dict(entry.payload)
            )
            with self._lock:
                held.entries[stored.id] = stored

    def remove(self, collection: str, where: Where) -> None:
        """Remove all entries that match `where`. An empty `where` matches no entry."""
        held = self._held(collection)
        if where:
            with self._lock:
                for entry in _fitting(held, where):
                    del held.entries[entry.id]

    def search(self, collection: str, question: Question) -> Found:
        """Return the IDs and scores of the best entries for `question`. `fetch` returns the entries themselves."""
        held = self._held(collection)
        if question.vector is not None:
            sound_vector(question.vector, held.model.dimensions, collection)
        words = sound_words(question.words or SparseVector((), ()))
        with self._lock:
            return _found(list(held.entries.values()), question, words)

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """Return the entries with these IDs in the same order, without vectors and words. Unknown IDs are omitted."""
        held = self._held(collection)
        with self._lock:
            found = [held.entries.get(point_id(wanted)) for wanted in ids]
        return [_bare(entry) for entry in found if entry is not None]

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """Return up to `limit` entries that match `where`, sorted by ID, without vectors and words."""
        held = self._held(collection)
        with self._lock:
            found = sorted(_fitting(held, where), key=lambda entry: entry.id)
        return [_bare(entry) for entry in found[: max(0, limit)]]

    def count(self, collection: str, where: Where | None = None) -> int:
        """Return the number of entries that match `where` (None: of all entries)."""
        held = self._held(collection)
        with self._lock:
            return len(_fitting(held, where or Where()))

    def flush(self, collection: str) -> None:
        """Do nothing, except raise `CollectionMissing` if the collection does not exist.

        The index is not stored on disk.
        """
        self._held(collection)

    def drop(self, collection: str) -> None:
        """Delete the collection, if it exists."""
        with self._lock:
            self._collections.pop(checked(collection), None)

    def close(self) -> None:
        """Do nothing, because there are no resources to release."""

    def _held(self, collection: str) -> _Collection:
        with self._lock:
            held = self._collections.get(checked(collection))
            if held is None:
                raise missing(collection, self.collections(), self.place)
            return held


def _fitting(held: _Collection, where: Where) -> list[Entry]:
    return [entry for entry in held.entries.values() if fits(entry.payload, where)]


def fits(payload: Mapping[str, object], where: Where) -> bool:
    """Return whether every field of the condition has one of its accepted values in `payload`.

    Values of different types are different, such as True, 1, and 1.0.
    """
    return all(
        any(type(have) is type(want) and have == want for have in values_of(payload, name) for want in wanted)
        for name, wanted in where.fields.items()
    )


def _bare(entry: Entry) -> Entry:
    return evolve(entry, vector=None, words=None)


def _found(entries: Sequence[Entry], question: Question, words: SparseVector) -> Found:
    """Return the best of the matching entries by vector (`dense`) and by words (`lexical`).

    Word frequencies are counted over all entries, not only the matching ones.
    """
    fitting = [entry for entry in entries if fits(entry.payload, question.where)]
    rarities = _rarities(entries, words)
    singles = [_weights(entry.words, rarities) for entry in entries if entry.words]
    best: dict[int, float] = defaultdict(float)
    for weights in singles:
        for word, weight in weights.items():
            best[word] = max(best[word], weight)
    lexical = [(math.fsum(_weights(entry.words, rarities).values()), entry) for entry in fitting if entry.words]
    dense = (
        []
        if question.vector is None
        else [(_dot(question.vector, entry.vector), entry) for entry in fitting if entry.vector is not None]
    )
    answers = {
        "dense": _best(dense, question.limit),
        "lexical": _best([(score, entry) for score, entry in lexical if score > 0], question.limit),
    }
    return found_of(answers, words, [best.get(word) for word in words.indices])


def _rarities(entries: Sequence[Entry], words: SparseVector) -> dict[int, float]:
    """Return the weight of each word of the query, multiplied by its inverse document frequency."""
    having = [set(entry.words.indices) for entry in entries if entry.words]
    counts = {word: sum(word in has for has in having) for word in words.indices}
    return {
        word: weight * rarity(len(having), counts[word])
        for word, weight in zip(words.indices, words.values, strict=True)
    }


def _weights(words: SparseVector | None, rarities: Mapping[int, float]) -> dict[int, float]:
    if words is None:
        return {}
    return {
        word: weight * rarities[word]
        for word, weight in zip(words.indices, words.values, strict=True)
        if word in rarities
    }


def _dot(one: Vector, other: Vector) -> float:
    return math.fsum(here * there for here, there in zip(one, other, strict=True))


def _best(scored: Iterable[tuple[float, Entry]], limit: int) -> list[Scored]:
    best = heapq.nsmallest(max(0, limit), scored, key=lambda pair: (-pair[0], pair[1].id))
    return [Scored(entry.id, entry.group, score) for score, entry in best]
