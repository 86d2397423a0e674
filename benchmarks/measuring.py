"""How everything here is timed: contestants in turn, medians and p95, ratios within one run."""

from __future__ import annotations

import gc
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from attrs import field, frozen

QUICK = "--quick" in sys.argv or bool(os.environ.get("CITEKIT_BENCH_QUICK"))
"""A trial of the suite itself: small sizes and few rounds, whose figures say little."""

LEAST = 5
"""Rounds that are run however long they take."""

_T = TypeVar("_T")


class Own(float):
    """Seconds that a contestant measured itself: what it returns to be counted instead of the whole call."""


def _sorted(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted(values))


@frozen
class Spent:
    """Milliseconds of each round of one contestant."""

    values: tuple[float, ...] = field(converter=_sorted)

    @property
    def median(self) -> float:
        """Half of the rounds took no longer."""
        return statistics.median(self.values) if self.values else math.nan

    @property
    def p95(self) -> float:
        """95 of 100 rounds took no longer."""
        return self.values[min(len(self.values) - 1, int(len(self.values) * 0.95))] if self.values else math.nan

    @property
    def rounds(self) -> int:
        """How often it was measured."""
        return len(self.values)


Contestant = Callable[[], object]


def interleaved(
    contestants: Mapping[str, Contestant], rounds: int, *, seconds: float = 5.0, warm: int = 1, least: int = LEAST
) -> dict[str, Spent]:
    """Each contestant once a round, in turn, so that a noisy moment hits all of them.

    `warm` rounds before are not counted. No round begins after `seconds`, once there were `least`. The order is
    another one in every round: whoever comes after a process that slept, or after a long one, pays for it.
    """
    spent: dict[str, list[float]] = {name: [] for name in contestants}
    names, order = list(contestants), random.Random(1)
    gc.collect()
    for _ in range(warm):
        for run in contestants.values():
            run()
    began = time.perf_counter()
    for number in range(rounds):
        if number >= min(least, rounds) and time.perf_counter() - began > seconds:
            break
        order.shuffle(names)
        for name in names:
            spent[name].append(1000 * timed(contestants[name]))
    return {name: Spent(values) for name, values in spent.items()}


def timed(run: Contestant) -> float:
    """Seconds of one call, or those that it says itself."""
    started = time.perf_counter()
    result = run()
    elapsed = time.perf_counter() - started
    return float(result) if isinstance(result, Own) else elapsed


def ratio(of: Spent | None, to: Spent | None) -> float | None:
    """How many times the median of `to` the median of `of` is; None where either was not measured."""
    if of is None or to is None or not of.values or not to.values:
        return None
    return of.median / to.median


def fewer(usual: _T, quick: _T) -> _T:
    """`usual`, or `quick` in a trial."""
    return quick if QUICK else usual
