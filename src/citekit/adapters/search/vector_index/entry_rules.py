"""Checks entries, collection names, and filters before an engine sees them.

Engines panic, or store nonsense, if these rules are broken.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from citekit.domain.errors import CollectionMissing, ModelMismatch, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity, Entry, SparseVector, Vector, Where

GROUP = "_group"
"""Where the group of an entry is kept beside its payload."""

CODE = "_code"
"""Where the code of an entry is kept in the embedded index, under the seal of its home."""

WORD_LIMIT = 2**32


def sound(entry: Entry, dimensions: int) -> Entry:
    """The entry as it is. Raises `ModelMismatch` for a vector of another length, else `RequestRefused`."""
    point_id(entry.id)
    if entry.vector is not None:
        sound_vector(entry.vector, dimensions)
    if entry.words is not None:
        sound_words(entry.words)
    if {GROUP, CODE} & entry.payload.keys() or not all(isinstance(key, str) for key in entry.payload):
        raise RequestRefused(
            f"The payload of entry {entry.id} has a key that is no text, or {GROUP!r} or {CODE!r}, which are reserved."
        )
    return entry


def point_id(text: str) -> str:
    """The UUID in its canonical writing. Raises `RequestRefused`."""
    try:
        return str(UUID(text))
    except (ValueError, AttributeError, TypeError) as error:
        raise RequestRefused(f"{str(text)[:80]!r} is no UUID; entries of an index are known by one.") from error


def sound_vector(vector: Vector, dimensions: int) -> Vector:
    """The vector as it is. Raises `ModelMismatch` for another length, `RequestRefused` for what is no number."""
    if len(vector) != dimensions:
        raise ModelMismatch(
            f"A vector has {len(vector)} dimensions, those of this collection have {dimensions}: "
            "use the collection's own embedder, or rebuild it (citekit library rebuild)."
        )
    if not math.isfinite(math.fsum(vector)):
        raise RequestRefused("A vector holds what is no finite number.")
    return vector


def sound_words(words: SparseVector) -> SparseVector:
    """The words as they are. Raises `RequestRefused` where the numbers do not rise, or a weight is not above 0."""
    indices, values = words.indices, words.values
    rising = all(here < there for here, there in pairwise(indices))
    inside = not indices or (indices[0] >= 0 and indices[-1] < WORD_LIMIT)
    weighed = all(0.0 < value < math.inf for value in values)
    if len(indices) != len(values) or not rising or not inside or not weighed:
        raise RequestRefused("Words must be rising 32-bit numbers, each once, with a weight above 0 each.")
    return words


def values_of(payload: Mapping[str, object], name: str) -> tuple[object, ...]:
    """The values of a payload's field: those of a list, else the one, else none."""
    value = payload.get(name)
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z", re.ASCII)


def checked(name: str) -> str:
    """The name as it is. Raises `RequestRefused` for one that could escape its folder or its address."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise RequestRefused(
            f"{str(name)[:100]!r} cannot name a collection: use 1 to 64 letters, digits, '_', '-' or '.', "
            "beginning with a letter or digit."
        )
    return name


def missing(name: str, existing: Sequence[str], place: str) -> CollectionMissing:
    """The error for a collection that is not there; it says which there are."""
    there = f"there are: {', '.join(existing)}" if existing else "there is none yet"
    return CollectionMissing(f"No collection '{name}' in {place}; {there}. Ingesting a book into '{name}' makes it.")


def mismatch(name: str, stored: EmbedderIdentity, wanted: EmbedderIdentity) -> ModelMismatch:
    """The error for a collection that another model's vectors fill."""
    return ModelMismatch(
        f"Collection '{name}' holds vectors of {stored}, but the embedder in use is {wanted}. "
        "Use that embedder, choose another collection, or rebuild this one (citekit library rebuild)."
    )


KEYWORDS = ("digest", "parent", "language", "authors", "tags")
"""Fields of texts that have an index of their own."""

INTEGERS = ("book_id",)
"""Fields of whole numbers that have one."""


def json_path(name: str) -> str:
    """A field's name as Qdrant's JSON path, in which dots and brackets mean something else."""
    return name if name.replace("_", "a").isalnum() and name.isascii() else json.dumps(name, ensure_ascii=False)


def is_never(where: Where) -> bool:
    """Whether nothing can fit, as a field can have none of no values."""
    return any(not values for values in where.fields.values())
