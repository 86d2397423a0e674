"""Empty bands between the lines of a part of a picture, and between its letters: which of them separate parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median_low

_LEAST_GAP = 3
"""Pixels of a band that separates anything."""


def row_bands(lines: Sequence[tuple[int, int]], usual: float) -> list[tuple[int, int]]:
    """The bands between rows that separate more than one line from the next."""
    pairs = list(pairwise(lines))
    heights = [end - start for start, end in lines]
    if _even(heights, [two[0] - one[1] for one, two in pairs]):
        return []
    pitches = sorted(two[0] - one[0] for one, two in pairs)
    pitch = pitches[len(pitches) // 4] if len(pitches) >= 3 else None
    return [(one[1], two[0]) for one, two in pairs if _separates(one, two, pitch, usual)]


def _even(heights: Sequence[int], widths: Sequence[int]) -> bool:
    """Whether these are the lines of one list: alike in height and distance, however far apart up to two lines."""
    if len(heights) < 3:
        return False
    alike = max(heights) <= 1.7 * min(heights) and max(widths) <= 1.5 * min(widths) + 2
    return alike and max(widths) <= 2 * median_low(heights)


def _separates(one: tuple[int, int], two: tuple[int, int], pitch: int | None, usual: float) -> bool:
    """Whether the band between two rows is more than that between lines, whose tops are `pitch` apart where known."""
    gap = two[0] - one[1]
    low, high = sorted((one[1] - one[0], two[1] - two[0]))
    if gap < _LEAST_GAP:
        return False
    if gap >= 1.3 * min(high, 2 * usual):
        return True
    if pitch is None:
        return gap >= (0.5 if high >= max(1.9 * low, usual) else 0.9) * low
    return two[0] - one[0] >= 1.3 * pitch and gap >= 0.45 * low


def column_bands(letters: Sequence[tuple[int, int]], space: float) -> list[tuple[int, int]]:
    """The bands between columns that are wider than the space between words."""
    gaps = [(one[1], two[0]) for one, two in pairwise(letters)]
    least = max(2 * _LEAST_GAP, space)
    return [(start, end) for start, end in gaps if end - start >= least]


def shared(one: Sequence[tuple[int, int]], two: Sequence[tuple[int, int]]) -> int:
    """The width of the widest band that both have."""
    widths = (min(a[1], b[1]) - max(a[0], b[0]) for a in one for b in two)
    return max(widths, default=0)


def widest(bands: Sequence[tuple[int, int]]) -> int:
    """The width of the widest band, 0 where there is none."""
    return max((end - start for start, end in bands), default=0)


def between(length: int, bands: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What lies between the bands."""
    edges = [0, *(edge for band in bands for edge in band), length]
    return [(edges[number], edges[number + 1]) for number in range(0, len(edges), 2)]
