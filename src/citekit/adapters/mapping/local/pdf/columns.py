"""The columns of a page, told from the gutter that no line crosses."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from citekit.adapters.mapping.local.pdf.lines import Typed

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
