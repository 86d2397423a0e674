"""Places as plain numbers, while it is still being found out whether they are right.

A place is a tuple of lows, then as many highs: (first, last) of pages, lines and paragraphs, both included; (start, end) of
seconds; (x1, y1, x2, y2) of a picture. It may lie anywhere, even outside the file.
"""

from __future__ import annotations

from collections.abc import Iterable

Place = tuple[float, ...]


def lows(place: Place) -> Place:
    """Where it begins, for every dimension."""
    return place[: len(place) // 2]


def highs(place: Place) -> Place:
    """Where it ends, for every dimension."""
    return place[len(place) // 2 :]


def holds(outer: Place, inner: Place) -> bool:
    """Whether all of `inner` is in `outer`."""
    return all(a <= b for a, b in zip(lows(outer), lows(inner), strict=True)) and all(
        a >= b for a, b in zip(highs(outer), highs(inner), strict=True)
    )


def meets(one: Place, other: Place) -> bool:
    """Whether the two share something, be it an edge."""
    return all(
        low <= high
        for low, high in zip(
            (*lows(one), *lows(other)),
            (*highs(other), *highs(one)),
            strict=True,
        )
    )


def union(places: Iterable[Place]) -> Place:
    """The smallest place that holds all of `places`, of which there is at least one."""
    known = list(places)
    return (
        *(min(column) for column in zip(*map(lows, known), strict=True)),
        *(max(column) for column in zip(*map(highs, known), strict=True)),
    )


def cut(place: Place, outer: Place) -> Place:
    """The part of `place` inside `outer`; its lows lie beyond its highs where there is none."""
    return (
        *(max(pair) for pair in zip(lows(place), lows(outer), strict=True)),
        *(min(pair) for pair in zip(highs(place), highs(outer), strict=True)),
    )


def moved(place: Place, by: float) -> Place:
    """The same extent, `by` further on."""
    return tuple(number + by for number in place)


def stands_out(inner: Place, outer: Place) -> float:
    """By how much `inner` reaches beyond `outer` where it does so most; 0 or less where it is inside."""
    return max(
        *(b - a for a, b in zip(lows(inner), lows(outer), strict=True)),
        *(a - b for a, b in zip(highs(inner), highs(outer), strict=True)),
    )
