"""How alike neighbouring texts are."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

from citekit.domain.library.vectors import Vector


def adjacent(vectors: Sequence[Vector]) -> list[float]:
    """The cosine of each vector and the next; one less than there are vectors. They are unit vectors."""
    return [sum(map(mul, one, other)) for one, other in zip(vectors, vectors[1:], strict=False)]
