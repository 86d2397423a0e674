"""Weights words by how few documents or pages contain them."""

from __future__ import annotations

import math


def rarity(total: int, having: int) -> float:
    """Return the inverse document frequency of BM25 if `having` of `total` documents have a word.

    It is ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Zaragoza, 2009).
    """
    return math.log(1 + (total - having + 0.5) / (having + 0.5))
