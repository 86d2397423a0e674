"""The usual figures of retrieval, with relevance that is yes or no."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set

from attrs import frozen

DEPTH = 10


@frozen
class Figures:
    """Means over questions, of the first ten answers: nDCG, recall (of at most ten), reciprocal rank of the first hit."""

    ndcg: float
    recall: float
    mrr: float


def of(rankings: Sequence[tuple[Sequence[str], Set[str]]]) -> Figures:
    """Of rankings, each with the ids that are relevant."""
    each = [_of_one(ranking[:DEPTH], relevant) for ranking, relevant in rankings]
    return Figures(*(math.fsum(column) / len(each) for column in zip(*each, strict=True)))


def _of_one(ranking: Sequence[str], relevant: Set[str]) -> tuple[float, float, float]:
    gains = [1 / math.log2(rank + 2) for rank, found in enumerate(ranking) if found in relevant]
    ideal = math.fsum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(relevant))))
    first = next((1 / (rank + 1) for rank, found in enumerate(ranking) if found in relevant), 0.0)
    return math.fsum(gains) / ideal, len(gains) / min(DEPTH, len(relevant)), first
