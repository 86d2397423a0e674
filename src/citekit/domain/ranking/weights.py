"""The weights of the features of pages and documents.

Fitted by `python -m benchmarks.ranking fit` (listwise softmax over the pages of a document); see
docs/explanation/retrieval.md.
"""

from __future__ import annotations

import math

from citekit.domain.ranking.documents import DocumentWeights
from citekit.domain.ranking.features import Features

PAGES = Features(
    words=2.0,
    coverage=2.3,
    similarity=2.8,
    sentence_words=1.5,
    sentence_similarity=2.2,
    first_lines=0.4,
    title=0.6,
    numeric=2.1,
    contents=-2.0,
    reference=4.0,
    pairs=2.3,
    whole_words=2.0,
    passage=2.1,
)
"""The weights for pages whose text was read, with vectors."""

PAGES_WITHOUT_VECTORS = Features(
    words=2.6,
    coverage=2.5,
    sentence_words=2.0,
    first_lines=0.6,
    title=0.8,
    numeric=2.1,
    contents=-2.0,
    reference=4.0,
    pairs=2.5,
    whole_words=2.2,
    passage=2.3,
)

FIRST_STAGE = Features(
    words=3.1,
    coverage=4.6,
    similarity=3.3,
    sentence_words=2.2,
    sentence_similarity=2.4,
    first_lines=0.8,
    title=1.0,
    numeric=2.1,
    contents=-2.0,
    reference=4.0,
)
"""The weights for choosing the pages whose texts are read."""

DOCUMENTS = DocumentWeights(names=3.01, coverage=2.09, words=4.69, density=4.28)
"""The weights for the prior of a document."""

MIDDLE, SLOPE = 5.0, 0.7
"""The weighted sum that has the score 0.5, and the growth rate of the logistic function in `score_of`."""


def score_of(weighted: float) -> float:
    """Return the score, from 0 to 1, for a weighted sum of features."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, SLOPE * (weighted - MIDDLE)))))


def weighted_of(score: float) -> float:
    """Return the weighted sum that has that score: the inverse of `score_of`.

    Scores are kept a millionth away from 0 and 1, so that no single score dominates.
    """
    limited = min(max(score, 1e-6), 1 - 1e-6)
    return MIDDLE + math.log(limited / (1 - limited)) / SLOPE
