"""The best k of an engine that cuts equal scores where it pleases.

An engine is asked for more than k, in steps, until the last of the k differs from what was left out; then those with the
same score are sorted by id, and the first k do not depend on k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citekit.domain.library.vectors import Scored

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
