"""Computes unit vectors of 32-bit floats, stored as `array('f')`, which takes an eighth of the memory of a list."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.model_files import imported
from citekit.domain.errors import EmbedderUnavailable
from citekit.domain.library.vectors import Vector
from citekit.domain.numbers import real

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def blank(dimensions: int) -> Vector:
    """Return the vector for a text without words: 1 in the first dimension, 0 in the other dimensions."""
    vector = array("f", bytes(4 * dimensions))
    vector[0] = 1.0
    return vector


def unit(values: Iterable[float], whose: str) -> Vector:
    """Return `values` normalized to length 1. A zero vector becomes `blank`.

    Raise `EmbedderUnavailable` if there are no values, or if one is not finite or too large. `whose` names the model in
    the error message.
    """
    found = [real(value) for value in values]
    try:
        length = math.sqrt(math.fsum(value * value for value in found))
    except OverflowError:  # each square is finite, but their sum is not
        length = math.inf
    if not found or not math.isfinite(length):
        raise EmbedderUnavailable(
            f"{whose} returned a vector that is empty or has values that are too large or not finite. Check the model."
        )
    return array("f", [value / length for value in found]) if length else blank(len(found))


def mean(vectors: Sequence[Sequence[float]], weights: Sequence[float], whose: str) -> Vector:
    """Return the weighted sum of `vectors`, normalized to length 1. `whose` names the model in error messages.

    Raise the errors of `unit`.
    """
    if len(vectors) == 1:
        return unit(vectors[0], whose)
    return unit((_dot(part, weights) for part in zip(*vectors, strict=True)), whose)


def units(matrix: NDArray[np.float32], whose: str) -> list[Vector]:
    """Normalize each row of a matrix to length 1, as `unit` does, and return the rows as vectors.

    Raise `EmbedderUnavailable` if a value is not finite.
    """
    numpy: Any = imported("numpy", "Embedding", "library")
    wide = matrix.astype(numpy.float64)
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", wide, wide))
    if not numpy.isfinite(lengths).all():
        raise EmbedderUnavailable(
            f"{whose} returned a vector with values that are not finite numbers. Check the model."
        )
    rows = (wide / numpy.where(lengths == 0, 1, lengths)[:, None]).astype(numpy.float32)
    rows[lengths == 0, :1] = 1
    return [array("f", row.tobytes()) for row in rows]


def _dot(left: Iterable[float], right: Iterable[float]) -> float:
    return sum(one * other for one, other in zip(left, right, strict=True))
