"""Computes how similar adjacent texts are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import mul
from statistics import quantiles

from citekit.domain.library.vectors import Vector


def adjacent(vectors: Sequence[Vector]) -> list[float]:
    """Return the cosine similarity of each vector to the next one. The vectors must have length 1."""
    return [sum(map(mul, one, other)) for one, other in pairwise(vectors)]


MIDDLE, LOW = 0.65, 0.35
"""The positions of the median and of the 10th percentile on the common scale."""

FEW = 20
"""Minimum number of similarities to measure their spread."""

_PROSE = (0.16, 0.02)
"""Median and 10th percentile of the similarity of adjacent sentences in English prose, with static vectors."""


def on_one_scale(similarities: Sequence[float]) -> list[float]:
    """Return the similarities of a text on a scale from 0 to 1 that is common to languages and embedders.

    Cosines of adjacent sentences are near 0.15 for one model and language and near 0.7 for another, so one threshold
    cannot fit both. The median becomes `MIDDLE`, and the 10th percentile `LOW`. For fewer than `FEW` similarities,
    the median and the percentile of English prose are used instead.
    """
    middle, low = _spread(similarities)
    slope = (MIDDLE - LOW) / max(middle - low, 1e-3)
    return [min(1.0, max(0.0, MIDDLE + (each - middle) * slope)) for each in similarities]


def _spread(similarities: Sequence[float]) -> tuple[float, float]:
    if len(similarities) < FEW:
        return _PROSE
    tenths = quantiles(similarities, n=10)
    return tenths[4], tenths[0]
