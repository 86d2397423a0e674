"""Splits the texts of pages into parts for models with a short window, and converts outputs of models to scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence


def plain(text: str) -> str:
    """Return `text` without lone surrogates and NUL characters, which models and servers do not accept.

    A surrogate is replaced by a question mark, and NUL by a space.
    """
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def parts(text: str, words: int, most: int) -> Iterator[str]:
    """Yield the first parts of the text, at least 1 and at most `most`, of at most `words` words each.

    Adjacent parts overlap by half.
    """
    every = text.split()
    step = max(1, words // 2)
    starts = range(0, max(1, len(every) - step), step)
    for start in list(starts)[:most]:
        yield " ".join(every[start : start + words])


def sigmoid(logit: float) -> float:
    """Return the probability for a logit."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


def probabilities(scores: Sequence[float]) -> list[float]:
    """Return the scores unchanged if all are from 0 to 1. Otherwise, treat them as logits, and return their
    probabilities.
    """
    if all(0 <= score <= 1 for score in scores):
        return list(scores)
    return [sigmoid(score) for score in scores]
