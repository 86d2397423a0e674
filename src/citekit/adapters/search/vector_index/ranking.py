"""Selects the best k entries from an engine's results, and records how well each word does alone.

Engines order equal scores arbitrarily. So an engine is asked for more than k, in steps, until the last of the k differs from
what was omitted. Entries with equal scores are then sorted by ID, and the first k do not depend on k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from citekit.domain.library.vectors import Found, Scored, SparseVector


def found_of(answers: Mapping[str, Sequence[Scored]], words: SparseVector, alone: Sequence[float | None]) -> Found:
    """`answers` are `dense` and `lexical`; `alone` is for each word the best score it reaches, None where no entry has it.

    Engines sum 32-bit floats; where rounding lifts a sum above the ceiling, the ceiling is lifted, too.
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
    """The best score of each of the replies, None for one without any."""
    return [reply[0].score if reply else None for reply in replies]


STEP = 128
"""The least that an engine is asked for: all limits below share one question, and one answer."""

MOST = 8192
"""Beyond so many equal scores, which of them are among the best is left to the engine."""


def step(limit: int) -> int:
    """How many to ask for, for the best `limit`: a power of two above it."""
    return max(STEP, 1 << limit.bit_length())


def best(limit: int, first: Sequence[Scored], asked: int, ask: Callable[[int], Sequence[Scored]]) -> Sequence[Scored]:
    """The best `limit`, given the answer to a question for `asked`; `ask` gives a longer one. Both are sorted."""
    found = first
    while limit and len(found) >= asked and asked < max(MOST, limit * 2) and found[limit - 1].score == found[-1].score:
        asked *= 4
        found = ask(asked)
    return found[:limit]
