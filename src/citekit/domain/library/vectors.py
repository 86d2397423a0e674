"""The values that a vector index stores and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

Vector = Sequence[float]
"""A unit vector of 32-bit floats."""


@frozen
class EmbedderIdentity:
    """The identity of an embedder. Only vectors of the same identity are comparable. `version` covers the weights and
    the code.
    """

    name: str
    version: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.name}:{self.version} ({self.dimensions} dimensions)"


@frozen
class SparseVector:
    """Weights of words. `indices` are rising unique 32-bit numbers; `values` are their weights, above 0."""

    indices: tuple[int, ...] = field(converter=tuple[int, ...])
    values: tuple[float, ...] = field(converter=tuple[float, ...])

    def __bool__(self) -> bool:
        return bool(self.indices)


@frozen
class Entry:
    """A point of the index. `id` is a UUID as text that depends only on the bytes and the location.

    A passage has a `vector`, and a chunk has `words`; an entry may have both. `group` is the ID of the chunk that it
    belongs to (its own for a chunk). `payload` is plain data. `foreign` is True if the index was imported or changed by
    another program: the payload is then not what this home stored.
    """

    id: str
    group: str
    vector: Vector | None = field(default=None, repr=False)
    words: SparseVector | None = field(default=None, repr=False)
    payload: Mapping[str, Any] = field(factory=dict)
    foreign: bool = False


@frozen
class Where:
    """A condition on entries: for each field of the payload, the accepted values. A list in the payload matches if one
    of its values does.
    """

    fields: Mapping[str, tuple[str | int, ...]] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.fields)


@frozen
class Question:
    """A query: entries near `vector` and entries with `words`, up to `limit` of each."""

    vector: Vector | None
    words: SparseVector | None
    limit: int
    where: Where = field(factory=Where)


@frozen
class Scored:
    """A result with its score; see `Found`."""

    id: str
    group: str
    score: float


@frozen
class Found:
    """The results of a query, best first. Equal scores are sorted by ID.

    `dense` scores are cosines. A `lexical` score is the sum over the query's words of the entry's weight for the word
    times the rarity of the word: ln(1 + (N - n + 0.5) / (n + 0.5)), for n of N entries with words. `ceiling` is the sum
    over the query's words of the best score of any entry for that word alone, which no entry exceeds. `known` is the
    share, from 0 to 1, of the weight of the query's words that occur in any entry.
    """

    dense: Sequence[Scored] = field(default=(), converter=tuple[Scored, ...])
    lexical: Sequence[Scored] = field(default=(), converter=tuple[Scored, ...])
    ceiling: float = 0.0
    known: float = 1.0


@frozen
class CollectionFacts:
    """The status of a collection. `status` is `green` if there are no problems; `place` describes where it is stored."""

    name: str
    model: EmbedderIdentity
    points: int
    status: str
    place: str
