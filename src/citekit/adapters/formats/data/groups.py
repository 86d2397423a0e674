"""Divides a long list of similar outline items into groups of a round size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from citekit.adapters.formats.shared.outline import OutlineItem, one_line
from citekit.domain.locations import Lines

SINGLE = 100
"""The maximum number of siblings that each become a node of their own.

Also the maximum number of keys of a JSON object that are listed as columns, or searched for a title.
"""

GROUPS = 2500
"""The default for the maximum number of groups at the lowest level."""

TOP = 60
"""The maximum number of groups at the top level. More groups are nested in larger ones."""


def grouped(
    count: int,
    location_of: Callable[[int, int], Lines],
    describe: Callable[[int, int], tuple[str, str | None]],
    *,
    type: str,
    least: int = 10,
    most: int = GROUPS,
) -> tuple[OutlineItem, ...]:
    """Divide `count` members into groups of the same round size, and return an outline item for each group.

    A group has at least `least` members, except the last one, and there are at most `most` groups. More than `TOP`
    groups are nested. `location_of(i, j)` returns the lines of the members [i, j), counted from 0, and `describe(i, j)`
    their title and summary.
    """
    size = round_size(max(least, -(-count // max(1, most))))
    parent_size = round_size(max(size, -(-count // TOP)))
    parent_size = -(-parent_size // size) * size
    if parent_size == size:
        return tuple(_group(start, end, location_of, describe, type) for start, end in _ranges(0, count, size))
    return tuple(
        _group(
            start,
            end,
            location_of,
            describe,
            type,
            tuple(_group(first, last, location_of, describe, type) for first, last in _ranges(start, end, size)),
        )
        for start, end in _ranges(0, count, parent_size)
    )


def gathered(items: Sequence[OutlineItem], type: str) -> tuple[OutlineItem, ...]:
    """Return the items, or, if there are more than `SINGLE`, groups of items.

    The title of a group contains those of its first and last items. The locations must be lines, in the order of the
    file.
    """
    if len(items) <= SINGLE:
        return tuple(items)
    size = round_size(max(10, -(-len(items) // TOP)))
    groups = []
    for start, end in _ranges(0, len(items), size):
        below = items[start:end]
        first, last = below[0].location, below[-1].location
        if isinstance(first, Lines) and isinstance(last, Lines):
            title = f"{start + 1}-{end}: {one_line(below[0].title, 40)} - {one_line(below[-1].title, 40)}"
            groups.append(OutlineItem(title, type, Lines(first.first, last.last), None, below))
    return tuple(groups)


def round_size(least: int) -> int:
    """Return the smallest number of the series 1, 2, 5, 10, 20, ... that is at least `least`."""
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
    location_of: Callable[[int, int], Lines],
    describe: Callable[[int, int], tuple[str, str | None]],
    type: str,
    below: tuple[OutlineItem, ...] = (),
) -> OutlineItem:
    title, summary = describe(start, end)
    return OutlineItem(title, type, location_of(start, end), summary, below)
