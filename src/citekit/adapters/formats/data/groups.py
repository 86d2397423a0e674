"""Many parts of one kind, gathered into groups of round numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from citekit.adapters.formats.shared.outline import OutlineItem
from citekit.domain.locations import Lines

SINGLE = 100
"""Parts of one kind up to which each is a node of its own."""

GROUPS = 2500
"""Groups at most."""

TOP = 60
"""Groups beside one another up to which they are not gathered once more."""


def grouped(
    count: int,
    place: Callable[[int, int], Lines],
    name: Callable[[int, int], tuple[str, str | None]],
    *,
    type: str,
    least: int = 10,
    most: int = GROUPS,
) -> tuple[OutlineItem, ...]:
    """Groups of `least` parts or more, each of a round number of them, at most `most` groups.

    `place(i, j)` gives the lines of the parts from `i` to before `j`, counted from 0; `name(i, j)` title and summary.
    """
    size = round_size(max(least, -(-count // max(1, most))))
    shelf = round_size(max(size, -(-count // TOP)))
    shelf = -(-shelf // size) * size
    if shelf == size:
        return tuple(_group(start, end, place, name, type) for start, end in _ranges(0, count, size))
    return tuple(
        _group(
            start,
            end,
            place,
            name,
            type,
            tuple(_group(first, last, place, name, type) for first, last in _ranges(start, end, size)),
        )
        for start, end in _ranges(0, count, shelf)
    )


def round_size(least: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `least`."""
    size = 1
    while True:
        for each in (size, 2 * size, 5 * size):
            if each >= least:
                return each
        size *= 10


def _ranges(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(start, end, size):
        yield first, min(first + size, end)


def _group(
    start: int,
    end: int,
    place: Callable[[int, int], Lines],
    name: Callable[[int, int], tuple[str, str | None]],
    type: str,
    below: tuple[OutlineItem, ...] = (),
) -> OutlineItem:
    title, summary = name(start, end)
    return OutlineItem(title, type, place(start, end), summary, below)
