"""Where within a stretch of sound another voice, or music, begins: without a pause, by the shape of the spectrum.

Two windows side by side are told apart by the Bayesian information criterion (S. Chen and P. Gopalakrishnan: Speaker,
environment and channel change detection and clustering via the Bayesian information criterion, DARPA 1998): whether two
normal distributions describe them better than one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from attrs import define, field

CONTEXT = 60
"""Windows before and after a moment that are compared at most: 3 s of what is heard."""

MIN_TURN = 24
"""Windows of a turn, and between two changes: 1.2 s of what is heard."""

STEP = 4
"""Windows between two moments that are tried."""

PENALTY = 1.75
"""What the criterion's term for complexity is multiplied with: windows that follow each other are alike."""

NEAR_CONTEXT = 12
"""Windows on either side of a change that have to differ, too: a sound that changes slowly has no place where it does."""

_FLOOR = 1e-3
_MIN_NEAR_SHARE = 0.15

Vector = Sequence[float]


@define
class _Sums:
    """Sums over some vectors, and over the products of their components (the lower triangle, row by row)."""

    size: int
    count: int = 0
    first: list[float] = field(factory=list)
    second: list[float] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.first = self.first or [0.0] * self.size
        self.second = self.second or [0.0] * (self.size * (self.size + 1) // 2)

    def move(self, vector: Vector, by: int) -> None:
        """One vector more (1) or less (-1)."""
        self.count += by
        products = [one * other for place, one in enumerate(vector, 1) for other in vector[:place]]
        add = float.__add__ if by > 0 else float.__sub__
        self.first = list(map(add, self.first, vector))
        self.second = list(map(add, self.second, products))

    def __add__(self, other: _Sums) -> _Sums:
        first = list(map(float.__add__, self.first, other.first))
        second = list(map(float.__add__, self.second, other.second))
        return _Sums(self.size, self.count + other.count, first, second)

    def log_determinant(self) -> float:
        """That of the covariance, by Cholesky's decomposition; a little is added to its diagonal."""
        means = [value / self.count for value in self.first]
        rows: list[list[float]] = []
        total, place = 0.0, 0
        for number, mean in enumerate(means):
            row: list[float] = []
            for column in range(number + 1):
                value = self.second[place] / self.count - mean * means[column]
                place += 1
                above = rows[column] if column < number else row
                value -= sum(map(float.__mul__, row, above[:column]))
                if column < number:
                    row.append(value / above[column])
                else:
                    value = max(value + _FLOOR, _FLOOR)
                    row.append(math.sqrt(value))
                    total += math.log(value)
            rows.append(row)
        return total


def find_changes(count: int, shape: Callable[[int], Vector], alive: Callable[[], None] = lambda: None) -> list[int]:
    """The windows at which another sound begins, of `count` windows one after another; `shape` gives the vector of each.

    `alive` is called now and then, and may raise.
    """
    scores: dict[int, float] = {}
    for place, score in _scores(count, shape):
        alive()
        scores[place] = score
    best = [place for place, score in scores.items() if score > 0 and score >= _best_nearby(scores, place)]
    return [
        place
        for place in best
        if _mean_distance(count, shape, place, NEAR_CONTEXT)
        >= _MIN_NEAR_SHARE * _mean_distance(count, shape, place, CONTEXT)
    ]


def _best_nearby(scores: dict[int, float], place: int) -> float:
    return max(scores.get(near, 0.0) for near in range(place - MIN_TURN + STEP, place + MIN_TURN, STEP))


def _mean_distance(count: int, shape: Callable[[int], Vector], place: int, reach: int) -> float:
    """How far the means of the windows before and after lie apart, squared."""
    before = _mean([shape(each) for each in range(max(place - reach, 0), place)])
    after = _mean([shape(each) for each in range(place, min(place + reach, count))])
    return sum((one - other) ** 2 for one, other in zip(before, after, strict=True))


def _mean(vectors: Sequence[Vector]) -> Vector:
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def _scores(count: int, shape: Callable[[int], Vector]) -> Iterator[tuple[int, float]]:
    """The criterion at every `STEP`th window that has `MIN_TURN` before and behind it: above 0 something changes."""
    if count < 2 * MIN_TURN:
        return
    size = len(shape(0))
    before, after = _Sums(size), _Sums(size)
    for place in range(min(CONTEXT, count)):
        after.move(shape(place), 1)
    for place in range(count - MIN_TURN + 1):
        if place >= MIN_TURN and place % STEP == 0:
            yield place, _criterion(before, after)
        here = shape(place)
        before.move(here, 1)
        after.move(here, -1)
        if place >= CONTEXT:
            before.move(shape(place - CONTEXT), -1)
        if place + CONTEXT < count:
            after.move(shape(place + CONTEXT), 1)


def _criterion(before: _Sums, after: _Sums) -> float:
    both = before + after
    size = both.size
    gain = sum(sign * each.count * each.log_determinant() for sign, each in ((1, both), (-1, before), (-1, after)))
    penalty = (size + size * (size + 1) / 2) * math.log(both.count)
    return (gain - PENALTY * penalty) / 2
