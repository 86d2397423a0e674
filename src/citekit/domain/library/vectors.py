"""What a vector index holds and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

Vector = Sequence[float]
"""A unit vector of 32-bit floats."""


@frozen
class EmbedderIdentity:
    """Whose vectors they are: only those of one identity can be compared. `version` is of the weights and the code."""

    name: str
    version: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.name}:{self.version} ({self.dimensions} dimensions)"


@frozen
class SparseVector:
    """Weights of words: `indices` are rising 32-bit numbers, each once, `values` their weights above 0."""

    indices: tuple[int, ...] = field(converter=tuple[int, ...])
    values: tuple[float, ...] = field(converter=tuple[float, ...])

    def __bool__(self) -> bool:
        return bool(self.indices)


@frozen
class Entry:
    """A point of the index: `id` is a UUID as text, the same for the same place of the same bytes.

    A passage has a `vector`, a chunk has `words`; each may have both. `group` is the id of the chunk that it belongs to (of
    a chunk, its own). `payload` is plain data. `foreign` says that the index came from elsewhere, or was changed by somebody
    else: what the payload says is not what was put there by this home.
    """

    id: str
    group: str
    vector: Vector | None = field(default=None, repr=False)
    words: SparseVector | None = field(default=None, repr=False)
    payload: Mapping[str, Any] = field(factory=dict)
    foreign: bool = False


@frozen
class Where:
    """Which entries: for each field of the payload, one of these values; a list in the payload fits by any of its own."""

    fields: Mapping[str, tuple[str | int, ...]] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.fields)


@frozen
class Question:
    """What is looked for: entries near `vector`, and entries with those `words`, up to `limit` of each."""

    vector: Vector | None
    words: SparseVector | None
    limit: int
    where: Where = field(factory=Where)


@frozen
class Scored:
    """An entry that was found, and how well it fits; see `Found`."""

    id: str
    group: str
    score: float


@frozen
class Found:
    """The answers to a question, the best first; equal scores by id.

    `dense` scores are cosines of the vectors; `lexical` ones the sum, over the words of the question, of the entry's weight
    for the word times how rare the word is: ln(1 + (N - n + 0.5) / (n + 0.5)), for n of N entries with words. `ceiling` is
    the sum over the question's words of the best score that any entry has for that word alone: no entry is above it.
    `known` is the share, 0 to 1, of the weight of the question's words that any entry has.
    """

    dense: Sequence[Scored] = field(default=(), converter=tuple[Scored, ...])
    lexical: Sequence[Scored] = field(default=(), converter=tuple[Scored, ...])
    ceiling: float = 0.0
    known: float = 1.0


@frozen
class CollectionFacts:
    """How a collection stands: `status` is `green` where all is well; `place` says in words where it is kept."""

    name: str
    model: EmbedderIdentity
    points: int
    status: str
    place: str
