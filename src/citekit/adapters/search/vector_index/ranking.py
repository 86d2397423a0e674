"""Selects the best k entries from an engine's results, and records the best score for each single word.

Engines order entries with equal scores arbitrarily. Therefore, an engine is asked for more than k entries, in steps,
until the last score differs from the k-th. Equal scores are then sorted by ID, so that the first k entries do not
depend on k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from citekit.domain.library.vectors import Found, Scored, SparseVector


def found_of(answers: Mapping[str, Sequence[Scored]], words: SparseVector, alone: Sequence[float | None]) -> Found:
    """Combine the results by vector (`dense`) and by words (`lexical`) in `answers` into one result.

    `alone` has the best score of any entry for each single word; None if no entry has the word. The sum of these scores
    is the upper bound for scores by words. Engines add 32-bit floats; if rounding makes a score greater than the bound,
    the bound is raised to that score.
    """
    lexical = answers.get("lexical", ())
    ceiling = math.fsum(score for score in alone if score is not None)
    whole = math.fsum(words.values)
    known = math.fsum(value for value, score in zip(words.values, alone, strict=True) if score is not None)
    return Found(
        answers.get("dense", ()),
        lexical,
        max([ceiling, *(hit.score for hit in lexical[:1])]),
        min(1.0, known / whole) if whole else 1.0,
    )


def best_alone(replies: Sequence[Sequence[Scored]]) -> list[float | None]:
    """Return the best score in each reply; None for an empty reply."""
    return [reply[0].score if reply else None for reply in replies]


STEP = 128
"""The smallest limit of an engine request, so that smaller limits share one request and one result."""

MOST = 8192
"""The largest limit. Among more equal scores than this, the engine chooses."""


def step(limit: int) -> int:
    """Return the number of results to request first to get the best `limit` entries.

    It is a power of two greater than `limit`, and at least `STEP`.
    """
    return max(STEP, 1 << limit.bit_length())


def best(limit: int, first: Sequence[Scored], asked: int, ask: Callable[[int], Sequence[Scored]]) -> Sequence[Scored]:
    """Return the best `limit` entries.

    `first` is the sorted result of a request for `asked` entries. If the last of them still has the same score as entry
    `limit`, `ask` repeats the request with a larger number.
    """
    found = first
    while limit and len(found) >= asked and asked < max(MOST, limit * 2) and found[limit - 1].score == found[-1].score:
        asked *= 4
        found = ask(asked)
    return found[:limit]
