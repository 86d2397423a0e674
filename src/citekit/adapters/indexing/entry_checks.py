"""What an entry must be like before an engine sees it: engines panic, or store nonsense, where these rules are broken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from uuid import UUID

from citekit.domain.errors import ModelMismatch, RequestRefused
from citekit.domain.library.vectors import Entry, SparseVector, Vector

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
