"""Lines that stand beside one another, gathered into rows: an entry of a table of contents and its page number are one.

The columns of a page, told from the gutter that no line crosses.

The lines of a page as rows: the pieces of a heading, and the number before it, made one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import is_number
from citekit.adapters.formats.pdf.outline.lines import Typed

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


FEWEST = 8
"""Lines on each side of a gutter."""


@frozen
class Columns:
    """`gutter` is the middle of the space between two columns, in points; None where there is one column.

    `spans` are the tops of lines that cross the gutter: what stands above one is read before it.
    """

    gutter: float | None = None
    spans: tuple[float, ...] = ()

    def of(self, line: Typed) -> int:
        """0 for a line in the only column or across both, else 1 for the left and 2 for the right one."""
        if self.gutter is None or line.left < self.gutter - 1 < self.gutter + 1 < line.right:
            return 0
        return 1 if line.right <= self.gutter + 1 else 2

    def band(self, line: Typed) -> int:
        """How many lines across both columns stand above: bands are read one after another."""
        return sum(top < line.top - 1 for top in self.spans) * 2 + (self.gutter is not None and self.of(line) > 0)


def columns_of(lines: Sequence[Typed]) -> Columns:
    """One or two columns: two where a vertical line near the middle is crossed by few lines and has many on each side."""
    upright = [line for line in lines if line.upright and line.right > line.left]
    if len(upright) < 2 * FEWEST:
        return Columns()
    left, right = min(line.left for line in upright), max(line.right for line in upright)
    width = right - left
    lefts = sorted({round(line.left) for line in upright if left + 0.3 * width < line.left < left + 0.7 * width})
    for start in lefts:
        at = start - 3.0
        before = [line for line in upright if line.right <= at + 1]
        after = [line for line in upright if line.left >= at]
        across = [line for line in upright if line.left < at - 1 and line.right > at + 2]
        wide = [line for line in after if line.left - start < 3 and line.right - line.left > 0.3 * width]
        if len(wide) >= FEWEST and _is_text(before, width) and len(across) * 4 < len(before) + len(after):
            return Columns(at, tuple(sorted(line.top for line in across)))
    return Columns()


def _is_text(lines: Sequence[Typed], width: float) -> bool:
    return sum(line.right - line.left > 0.3 * width for line in lines) >= FEWEST


WIDE_SPACE = 2.5
"""Sizes of the type between two words of a heading that was stretched to the width of its column, at most."""

_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_MARK_AFTER = re.compile(r"(?<=\d) *([.:)])(?! *\d) *")


def type_of(line: Typed) -> tuple[str, float, bool]:
    """Font, size in points, bold."""
    return line.font, line.size, line.bold


def whole(lines: Sequence[Typed], columns: Columns, large: float) -> list[Typed]:
    """The lines, those of at least `large` points that wide spaces between their words have broken into pieces made whole."""
    joined: list[Typed] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and line.size >= large and _is_piece(last, line, columns):
            joined[-1] = evolve(last, text=f"{last.text} {line.text}", right=line.right)
        else:
            joined.append(line)
    return joined


def _is_piece(one: Typed, other: Typed, columns: Columns) -> bool:
    """Whether `other` goes on in the row of `one`, in its type and column."""
    level = abs(one.bottom - other.bottom) < 1 and one.block == other.block and type_of(one) == type_of(other)
    near = 0 <= other.left - one.right < WIDE_SPACE * one.size
    return level and near and not (columns.gutter is not None and one.right <= columns.gutter <= other.left)


def with_numbers(lines: Sequence[Typed]) -> list[Typed]:
    """The lines, a number that stands before its heading joined to it."""
    joined: list[Typed] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and is_number(last.text) and _is_right_of(last, line):
            joined[-1] = evolve(line, text=f"{last.text} {line.text}", left=last.left)
        elif last is not None and is_number(last.text) and _is_left_of(last, line):
            joined[-1] = evolve(line, text=_MARK_AFTER.sub(r"\1 ", f"{last.text} {line.text}"), right=last.right)
        else:
            joined.append(line)
    return joined


def _is_right_of(number: Typed, line: Typed) -> bool:
    level = abs(number.bottom - line.bottom) < line.size / 2
    return level and -1 <= line.left - number.right < 6 * line.size and abs(number.size - line.size) < 0.3 * line.size


def _is_left_of(number: Typed, line: Typed) -> bool:
    """Whether `line` goes on to the left of its number, as Hebrew and Arabic do."""
    level = abs(number.bottom - line.bottom) < line.size / 2 and abs(number.size - line.size) < 0.3 * line.size
    return level and -1 <= number.left - line.right < 6 * line.size and bool(_RIGHT_TO_LEFT.search(line.text))
