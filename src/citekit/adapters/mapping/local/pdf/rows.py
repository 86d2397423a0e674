"""Lines that stand beside one another, gathered into rows: an entry of a table of contents and its page number are one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.mapping.local.pdf.lines import Typed

ALIGNED = 5
"""Lines that end at one place near the middle of a page where a column may end."""


@frozen
class Row:
    """Lines at one height, from left to right."""

    lines: tuple[Typed, ...]

    @property
    def text(self) -> str:
        """The words of the row."""
        return " ".join(line.text for line in self.lines)

    @property
    def left(self) -> float:
        """Where it begins, in points."""
        return self.lines[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(line.right for line in self.lines)

    @property
    def top(self) -> float:
        """Its upper edge."""
        return min(line.top for line in self.lines)

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return max(line.bottom for line in self.lines)


def rows_of(lines: Sequence[Typed]) -> list[Row]:
    """Rows from top to bottom; a line belongs to the row in whose height its middle lies."""
    rows: list[list[Typed]] = []
    for line in sorted((line for line in lines if line.upright), key=lambda line: (line.top + line.bottom) / 2):
        if rows and _beside(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [Row(tuple(sorted(row, key=lambda line: line.left))) for row in rows]


def gutters(lines: Sequence[Typed]) -> list[float]:
    """Where a first column of contents may end: `ALIGNED` lines end there, with a number, between three and seven tenths
    of the width."""
    upright = [line for line in lines if line.upright]
    if not upright:
        return []
    left, right = min(line.left for line in upright), max(line.right for line in upright)
    ended = Counter(round(line.right) for line in upright if line.text[-1].isdecimal())
    low, high = left + 0.3 * (right - left), left + 0.7 * (right - left)
    return sorted(at + 1.0 for at, times in ended.items() if times >= ALIGNED and low < at < high)


def parted(lines: Sequence[Typed], gutter: float) -> list[list[Typed]]:
    """The lines above two columns, the left column, the right one, and what stands below: the columns reach from the line
    that runs across `gutter` to the next that does."""
    first = min((line.top for line in lines if abs(line.right - gutter) < 2), default=math.inf)
    across = [line for line in lines if line.left < gutter - 1 and line.right > gutter + 1]
    top = max((line.bottom for line in across if line.top <= first), default=-math.inf)
    end = min((line.top for line in across if line.top > first), default=math.inf)
    above = [line for line in lines if line.top < top]
    inside = [line for line in lines if top <= line.top < end]
    return [
        above,
        [line for line in inside if line.left < gutter],
        [line for line in inside if line.left >= gutter],
        [line for line in lines if line.top >= max(top, end)],
    ]


def _beside(one: Typed, other: Typed) -> bool:
    middle = (other.top + other.bottom) / 2
    return abs((one.top + one.bottom) / 2 - middle) < 0.35 * min(one.bottom - one.top, other.bottom - other.top)
