"""Lines that stand beside one another, gathered into rows: an entry of a table of contents and its page number are one."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.mapping.local.pdf.lines import Typed


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


def _beside(one: Typed, other: Typed) -> bool:
    middle = (other.top + other.bottom) / 2
    return abs((one.top + one.bottom) / 2 - middle) < 0.35 * min(one.bottom - one.top, other.bottom - other.top)
