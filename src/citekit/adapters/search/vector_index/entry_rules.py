"""Validates entries, collection names, and filters: engines crash or store invalid data otherwise."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from citekit.domain.errors import CollectionMissing, ModelMismatch, RequestRefused
from citekit.domain.library.vectors import Entry, SparseVector, Vector, Where

GROUP = "_group"
"""The payload key for the group of an entry."""

CODE = "_code"
"""The payload key for the authentication code of an entry in the embedded index."""

WORD_LIMIT = 2**32


def sound(entry: Entry, dimensions: int, collection: str, home_option: str = "") -> Entry:
    """Return the entry of `collection` if it is valid.

    Raise `ModelMismatch` if its vector does not have `dimensions` numbers, or `RequestRefused` for other faults. See
    `sound_vector` for `home_option`.
    """
    point_id(entry.id)
    if entry.vector is not None:
        sound_vector(entry.vector, dimensions, collection, home_option)
    if entry.words is not None:
        sound_words(entry.words)
    if {GROUP, CODE} & entry.payload.keys() or not all(isinstance(key, str) for key in entry.payload):
        raise RequestRefused(
            f"The payload of entry {entry.id} has a key that is not a string, or one of the reserved keys "
            f"{GROUP!r} and {CODE!r}."
        )
    return entry


def point_id(text: str) -> str:
    """Return the UUID `text` in its canonical form. Raise `RequestRefused` if it is not a UUID."""
    try:
        return str(UUID(text))
    except (ValueError, AttributeError, TypeError) as error:
        raise RequestRefused(f"The ID of an index entry must be a UUID, not {str(text)[:80]!r}.") from error


def sound_vector(vector: Vector, dimensions: int, collection: str, home_option: str = "") -> Vector:
    """Return the vector if it is valid in `collection`.

    `home_option` is the option `--home` of the command in the error, with a space before it, or "".

    Raise `ModelMismatch` if its length is not `dimensions`, or `RequestRefused` if not all of its numbers are finite.
    """
    if len(vector) != dimensions:
        raise ModelMismatch(
            f"The vector has {len(vector)} dimensions, but the vectors of the collection '{collection}' have {dimensions}. "
            "Use the embedder of the collection (CITEKIT_EMBEDDER), or rebuild the collection (citekit library rebuild "
            f"--collection {collection}{home_option})."
        )
    if not all(map(math.isfinite, vector)):
        raise RequestRefused("All values of a vector must be finite numbers.")
    return vector


def sound_words(words: SparseVector) -> SparseVector:
    """Return the weighted words of an entry or a query if they are valid.

    Raise `RequestRefused` if the IDs are not ascending unsigned 32-bit numbers, or if there is not a finite weight
    greater than 0 for each.
    """
    indices, values = words.indices, words.values
    rising = all(here < there for here, there in pairwise(indices))
    inside = not indices or (indices[0] >= 0 and indices[-1] < WORD_LIMIT)
    weighed = all(0.0 < value < math.inf for value in values)
    if len(indices) != len(values) or not rising or not inside or not weighed:
        raise RequestRefused(
            "The indices of a sparse vector must be unsigned 32-bit numbers in ascending order without duplicates, "
            "each with a finite weight above 0."
        )
    return words


def values_of(payload: Mapping[str, object], name: str) -> tuple[object, ...]:
    """Return the values of a payload field: the items of a list, or a single value; empty if the field is missing."""
    value = payload.get(name)
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z", re.ASCII)


def checked(name: str) -> str:
    """Return the name of a collection. Raise `RequestRefused` if it is not valid: it could refer to a path or a URL."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise RequestRefused(
            f"{str(name)[:100]!r} is not a valid name for a collection. Use 1 to 64 letters, digits, '_', '-', or "
            "'.', beginning with a letter or digit."
        )
    return name


def missing(name: str, existing: Sequence[str], place: str) -> CollectionMissing:
    """Return the error for a collection that does not exist, which lists the `existing` collections."""
    there = f"existing collections: {', '.join(existing)}" if existing else "no collections exist yet"
    return CollectionMissing(
        f"There is no collection '{name}' in {place} ({there}). To create this collection, ingest a book into it."
    )


KEYWORDS = ("digest", "parent", "language", "authors", "tags")
"""Text fields with a payload index."""

INTEGERS = ("book_id",)
"""Integer fields with a payload index."""


def json_path(name: str) -> str:
    """Return a field name as a JSON path of Qdrant. Names with dots, brackets, or other special characters are quoted."""
    return name if name.replace("_", "a").isalnum() and name.isascii() else json.dumps(name, ensure_ascii=False)


def is_never(where: Where) -> bool:
    """Return whether the condition matches no entry, because a field has an empty list of accepted values."""
    return any(not values for values in where.fields.values())
