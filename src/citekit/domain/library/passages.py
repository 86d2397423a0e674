"""Splits a chunk into passages that are short enough for one vector."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from citekit.domain.library.sentences import Sentence


def passages(sentences: Sequence[Sentence], window: int) -> tuple[tuple[int, int], ...]:
    """Return consecutive passages that cover `sentences`, as character offsets (start, end).

    Each passage has at most `window` words, but a longer sentence is a passage of its own. The passages are as few as
    possible, and as similar in length as whole sentences allow.
    """
    before = list(accumulate((sentence.words for sentence in sentences), initial=0))
    earliest = _packed_from_the_back(before, window)
    borders = [0]
    for number in range(1, len(earliest) - 1):
        aim = before[-1] * number / (len(earliest) - 1)
        low = max(borders[-1] + 1, earliest[number])
        borders.append(_nearest(before, aim, low, _reach(before, borders[-1], window)))
    if sentences:
        borders.append(len(sentences))
    return tuple((sentences[first].start, sentences[last - 1].end) for first, last in pairwise(borders))


def _packed_from_the_back(before: Sequence[int], window: int) -> list[int]:
    """Return the earliest possible borders, found by filling passages from the end of the text.

    A border is the index of the first sentence of a passage, and `before[i]` the number of words before sentence i.
    """
    borders = [len(before) - 1]
    while borders[-1] > 0:
        last = borders[-1]
        borders.append(min(last - 1, bisect_left(before, before[last] - window)))
    return borders[::-1]


def _reach(before: Sequence[int], first: int, window: int) -> int:
    """Return the last border at which a passage can end if it begins at sentence `first`."""
    return max(first + 1, bisect_right(before, before[first] + window) - 1)


def _nearest(before: Sequence[int], aim: float, low: int, high: int) -> int:
    """Return the border from `low` to `high` for which the number of preceding words is closest to `aim`."""
    border = bisect_left(before, aim, low, high)
    return border - 1 if border > low and aim - before[border - 1] <= before[border] - aim else border
