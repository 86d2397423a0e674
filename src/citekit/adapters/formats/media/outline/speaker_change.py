"""Finds where another voice, or music, starts without a pause, by comparing the shape of the spectrum.

Two adjacent groups of windows are compared with the Bayesian information criterion: whether two normal distributions
describe them better than one (S. Chen and P. Gopalakrishnan: Speaker, environment and channel change detection and
clustering via the Bayesian information criterion, DARPA 1998).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from attrs import define, field

CONTEXT = 60
"""The maximum number of windows compared on each side of a moment: 3 s of audible sound."""

MIN_TURN = 24
"""The minimum number of windows of a turn, and between two changes: 1.2 s of audible sound."""

STEP = 4
"""The number of windows between two moments that are tested."""

PENALTY = 1.75
"""Factor of the criterion's complexity term. It is above 1 because consecutive windows are similar."""

NEAR_CONTEXT = 12
"""The number of windows on each side of a change that must differ, too: a slow change has no single moment."""

_FLOOR = 1e-3
_MIN_NEAR_SHARE = 0.15

Vector = Sequence[float]


@define
class _Sums:
    """Running sums over vectors with `size` components, from which a covariance matrix is computed.

    `second` contains the sums of the products of components: the lower triangle of a matrix, row by row.
    """

    size: int
    count: int = 0
    first: list[float] = field(factory=list)
    second: list[float] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.first = self.first or [0.0] * self.size
        self.second = self.second or [0.0] * (self.size * (self.size + 1) // 2)

    def add_or_remove(self, vector: Vector, by: int) -> None:
        """Add a vector to the sums if `by` is 1, or remove it if `by` is -1."""
        self.count += by
        products = [one * other for length, one in enumerate(vector, 1) for other in vector[:length]]
        add = float.__add__ if by > 0 else float.__sub__
        self.first = list(map(add, self.first, vector))
        self.second = list(map(add, self.second, products))

    def __add__(self, other: _Sums) -> _Sums:
        first = list(map(float.__add__, self.first, other.first))
        second = list(map(float.__add__, self.second, other.second))
        return _Sums(self.size, self.count + other.count, first, second)

    def log_determinant(self) -> float:
        """Return the logarithm of the determinant of the covariance matrix, with a small value added to the diagonal."""
        means = [value / self.count for value in self.first]
        rows: list[list[float]] = []
        total, index = 0.0, 0
        for number, mean in enumerate(means):
            row: list[float] = []
            for column in range(number + 1):
                value = self.second[index] / self.count - mean * means[column]
                index += 1
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


def find_changes(
    count: int, spectrum: Callable[[int], Vector], heartbeat: Callable[[], None] = lambda: None
) -> list[int]:
    """Return the indexes of the windows at which another voice or sound starts.

    `spectrum` returns the feature vector of each of `count` consecutive windows. `heartbeat` is called regularly, and
    can raise an error to cancel.
    """
    scores: dict[int, float] = {}
    for window, score in _scores(count, spectrum):
        heartbeat()
        scores[window] = score
    peaks = [window for window, score in scores.items() if score > 0 and score >= _best_nearby(scores, window)]
    return [
        window
        for window in peaks
        if _mean_distance(count, spectrum, window, NEAR_CONTEXT)
        >= _MIN_NEAR_SHARE * _mean_distance(count, spectrum, window, CONTEXT)
    ]


def _best_nearby(scores: dict[int, float], window: int) -> float:
    return max(scores.get(near, 0.0) for near in range(window - MIN_TURN + STEP, window + MIN_TURN, STEP))


def _mean_distance(count: int, spectrum: Callable[[int], Vector], window: int, context: int) -> float:
    """Return the squared distance between the mean vectors of the `context` windows before and after `window`."""
    before = _mean([spectrum(each) for each in range(max(window - context, 0), window)])
    after = _mean([spectrum(each) for each in range(window, min(window + context, count))])
    return sum((one - other) ** 2 for one, other in zip(before, after, strict=True))


def _mean(vectors: Sequence[Vector]) -> Vector:
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def _scores(count: int, spectrum: Callable[[int], Vector]) -> Iterator[tuple[int, float]]:
    """Yield every `STEP`th window with its score, above 0 for a change, if at least `MIN_TURN` windows are on each
    side.
    """
    if count < 2 * MIN_TURN:
        return
    size = len(spectrum(0))
    before, after = _Sums(size), _Sums(size)
    for window in range(min(CONTEXT, count)):
        after.add_or_remove(spectrum(window), 1)
    for window in range(count - MIN_TURN + 1):
        if window >= MIN_TURN and window % STEP == 0:
            yield window, _criterion(before, after)
        vector = spectrum(window)
        before.add_or_remove(vector, 1)
        after.add_or_remove(vector, -1)
        if window >= CONTEXT:
            before.add_or_remove(spectrum(window - CONTEXT), -1)
        if window + CONTEXT < count:
            after.add_or_remove(spectrum(window + CONTEXT), 1)


def _criterion(before: _Sums, after: _Sums) -> float:
    both = before + after
    size = both.size
    gain = sum(sign * each.count * each.log_determinant() for sign, each in ((1, both), (-1, before), (-1, after)))
    penalty = (size + size * (size + 1) / 2) * math.log(both.count)
    return (gain - PENALTY * penalty) / 2
