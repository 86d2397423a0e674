"""An index in memory, exact and in plain Python: what the others are held against."""

from __future__ import annotations

import heapq
import math
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, evolve, field

from citekit.adapters.search.vector_index.entry_rules import (
    checked,
    mismatch,
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
)


@define
class _Collection:
    """The entries by id."""

    model: EmbedderIdentity
    entries: dict[str, Entry] = field(factory=dict)


class MemoryVectorIndex:
    """Collections that live as long as this object. Every answer is exact."""

    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}
        self._lock = threading.RLock()

    @property
    def place(self) -> str:
        """Where this is."""
        return "memory"

    def collections(self) -> Sequence[str]:
        """The names of all collections, sorted."""
        with self._lock:
            return sorted(self._collections)

    def facts(self, collection: str) -> CollectionFacts | None:
        """How the collection stands, or None where there is none of that name."""
        with self._lock:
            held = self._collections.get(checked(collection))
            if held is None:
                return None
            return CollectionFacts(collection, held.model, len(held.entries), "green", self.place)

    def create(self, collection: str, model: EmbedderIdentity) -> None:
        """Make it, where there is none; raises `ModelMismatch` where there is one of another model."""
        with self._lock:
            held = self._collections.setdefault(checked(collection), _Collection(model))
        if held.model != model:
            raise mismatch(collection, held.model, model)

    def put(self, collection: str, entries: Iterable[Entry]) -> None:
        """Store or replace, by id. Raises `ModelMismatch` for a vector of another length."""
        held = self._held(collection)
        for entry in entries:
            stored = evolve(sound(entry, held.model.dimensions), id=point_id(entry.id), payload=dict(entry.payload))
            with self._lock:
                held.entries[stored.id] = stored

    def remove(self, collection: str, where: Where) -> None:
        """Drop every entry that fits; an empty `where` fits none."""
        held = self._held(collection)
        if where:
            with self._lock:
                for entry in _fitting(held, where):
                    del held.entries[entry.id]

    def search(self, collection: str, question: Question) -> Found:
        """The best entries; their payloads are fetched on their own."""
        held = self._held(collection)
        if question.vector is not None:
            sound_vector(question.vector, held.model.dimensions)
        words = sound_words(question.words or SparseVector((), ()))
        with self._lock:
            return _found(list(held.entries.values()), question, words)

    def fetch(self, collection: str, ids: Sequence[str]) -> Sequence[Entry]:
        """Those entries in the order asked for, without vectors and words; unknown ids are left out."""
        held = self._held(collection)
        with self._lock:
            found = [held.entries.get(point_id(wanted)) for wanted in ids]
        return [_bare(entry) for entry in found if entry is not None]

    def matching(self, collection: str, where: Where, limit: int = 10_000) -> Sequence[Entry]:
        """The entries that fit, by id, without vectors and words."""
        held = self._held(collection)
        with self._lock:
            found = sorted(_fitting(held, where), key=lambda entry: entry.id)
        return [_bare(entry) for entry in found[: max(0, limit)]]

    def count(self, collection: str, where: Where | None = None) -> int:
        """How many entries fit; with no condition, all."""
        held = self._held(collection)
        with self._lock:
            return len(_fitting(held, where or Where()))

    def flush(self, collection: str) -> None:
        """Nothing is durable here."""
        self._held(collection)

    def drop(self, collection: str) -> None:
        """Forget the whole collection; nothing happens where there is none."""
        with self._lock:
            self._collections.pop(checked(collection), None)

    def close(self) -> None:
        """Nothing is held that could be let go."""

    def _held(self, collection: str) -> _Collection:
        with self._lock:
            held = self._collections.get(checked(collection))
            if held is None:
                raise missing(collection, self.collections(), self.place)
            return held


def _fitting(held: _Collection, where: Where) -> list[Entry]:
    return [entry for entry in held.entries.values() if fits(entry.payload, where)]


def fits(payload: Mapping[str, object], where: Where) -> bool:
    """Whether each field has one of the values asked for; True and 1 are not the same, nor are 1 and 1.0."""
    return all(
        any(type(have) is type(want) and have == want for have in values_of(payload, name) for want in wanted)
        for name, wanted in where.fields.items()
    )


def _bare(entry: Entry) -> Entry:
    return evolve(entry, vector=None, words=None)


def _found(entries: Sequence[Entry], question: Question, words: SparseVector) -> Found:
    """The dense and the lexical answers among those that fit; how rare a word is, is counted over all."""
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
    """Of each word: its weight in the question times ln(1 + (N - n + 0.5) / (n + 0.5))."""
    having = [set(entry.words.indices) for entry in entries if entry.words]
    counts = {word: sum(word in has for has in having) for word in words.indices}
    return {
        word: weight * math.log(1 + (len(having) - counts[word] + 0.5) / (counts[word] + 0.5))
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
