"""How alike neighbouring texts are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import mul
from statistics import quantiles

from citekit.domain.library.vectors import Vector


def adjacent(vectors: Sequence[Vector]) -> list[float]:
    """The cosine of each vector and the next; one less than there are vectors. They are unit vectors."""
    return [sum(map(mul, one, other)) for one, other in pairwise(vectors)]


MIDDLE, LOW = 0.65, 0.35
"""Where the median of a text's similarities comes to lie, and its lowest tenth: the scale that thresholds are on."""

FEW = 20
"""Similarities below which a text says nothing of its own spread: that of English prose stands in."""

_PROSE = (0.16, 0.02)
"""Median and lowest tenth of neighbouring sentences of English novels and manuals, by static vectors."""


def on_one_scale(similarities: Sequence[float]) -> list[float]:
    """The similarities of one text on a scale that is the same for every language and embedder, from 0 to 1.

    Cosines of neighbouring sentences lie about 0.15 for one model and language and about 0.7 for another, so that a threshold
    would mean nothing. Here the median becomes `MIDDLE` and the lowest tenth `LOW`; the order stays, so that a higher
    threshold still breaks wherever a lower one does.
    """
    middle, low = _spread(similarities)
    slope = (MIDDLE - LOW) / max(middle - low, 1e-3)
    return [min(1.0, max(0.0, MIDDLE + (each - middle) * slope)) for each in similarities]


def _spread(similarities: Sequence[float]) -> tuple[float, float]:
    if len(similarities) < FEW:
        return _PROSE
    tenths = quantiles(similarities, n=10)
    return tenths[4], tenths[0]
