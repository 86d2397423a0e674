"""Defines the values that a vector index stores and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from citekit.domain.errors import ModelMismatch

Vector = Sequence[float]
"""A unit vector of 32-bit floats."""

_SETTINGS = {
    "wordllama-l2-supercat": "fast",
    "wordllama-l2-supercat*0.4+all-minilm-l6-v2-int8*0.6": "quality",
    "all-minilm-l6-v2-int8": "minilm",
    "use-multilingual-v3": "multilingual",
    "hashing": "hashing",
}
"""The values of `CITEKIT_EMBEDDER` by the names of the embedders that they choose."""


@frozen
class EmbedderIdentity:
    """The identity of an embedder. Vectors of different identities are not comparable.

    `version` must change if the weights or the code of the embedder change.
    """

    name: str
    version: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.name}:{self.version} ({self.dimensions} dimensions)"

    @property
    def setting(self) -> str:
        """The value of `CITEKIT_EMBEDDER` that chooses this embedder, or "" if it depends on other settings."""
        return self.name if self.name.startswith(("gemini:", "openai:")) else _SETTINGS.get(self.name, "")


def model_mismatch(
    collection: str, stored: EmbedderIdentity, wanted: EmbedderIdentity, home_option: str = ""
) -> ModelMismatch:
    """Return the error for a collection with vectors of another embedder than the configured one.

    `home_option` is the option `--home` of the command in the message, with a space before it, or "".
    """
    remedy = "Use another collection"
    if stored.name != wanted.name:  # otherwise, CiteKit or the model has changed since
        remedy = f"Set CITEKIT_EMBEDDER to {stored.setting or 'the embedder of that model'}, use another collection"
    return ModelMismatch(
        f"The collection '{collection}' contains vectors of {stored}, but the configured embedder is {wanted}. {remedy}, "
        f"or rebuild this one: citekit library rebuild --collection {collection}{home_option}"
    )


@frozen
class SparseVector:
    """A sparse vector of weighted words.

    `indices` are unique 32-bit numbers of words, in ascending order. `values` are their weights, above 0.
    """

    indices: tuple[int, ...] = field(converter=tuple[int, ...])
    values: tuple[float, ...] = field(converter=tuple[float, ...])

    def __bool__(self) -> bool:
        return bool(self.indices)


@frozen
class Entry:
    """An entry of the vector index. `id` is a UUID as text.

    An entry for a passage has a `vector`, and an entry for a chunk has `words`; an entry may have both. `group` is the
    ID of the chunk to which the entry belongs, possibly itself. `payload` is plain data. `foreign` is True if another
    program may have changed the payload.
    """

    id: str
    group: str
    vector: Vector | None = field(default=None, repr=False)
    words: SparseVector | None = field(default=None, repr=False)
    payload: Mapping[str, Any] = field(factory=dict)
    foreign: bool = False


@frozen
class Where:
    """A filter that lists the accepted values of payload fields.

    A list in the payload matches if one of its items is accepted. An empty filter accepts all entries.
    """

    fields: Mapping[str, tuple[str | int, ...]] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.fields)


@frozen
class Question:
    """A query to a vector index: up to `limit` entries near `vector`, and up to `limit` with the given `words`."""

    vector: Vector | None
    words: SparseVector | None
    limit: int
    where: Where = field(factory=Where)


@frozen
class Scored:
    """An entry that a query found. For the scores, see `Found`."""

    id: str
    group: str
    score: float


@frozen
class Found:
    """The results of a query: `dense` from the vector search and `lexical` from the word search, each best first.

    Equal scores are sorted by ID. Dense scores are cosines. A lexical score is the sum, over the query's words, of the
    word's weight in the entry times its rarity: ln(1 + (N - n + 0.5) / (n + 0.5)) for a word in n of N entries.
    `ceiling` is the sum, over the query's words, of the best score of any entry for that word alone. `known` is the
    share, from 0 to 1, of the weight of the query's words that occur in any entry.
    """

    dense: Sequence[Scored] = field(default=(), converter=tuple[Scored, ...])
    lexical: Sequence[Scored] = field(default=(), converter=tuple[Scored, ...])
    ceiling: float = 0.0
    known: float = 1.0


@frozen
class CollectionFacts:
    """The state of a collection.

    `model` is the embedder of its vectors, and `points` the number of its entries. `status` is `green` if there are no
    problems. `place` says where the collection is stored.
    """

    name: str
    model: EmbedderIdentity
    points: int
    status: str
    place: str
