"""Rectangles on a page as it is shown, in points from its top left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from citekit.domain.locations import Box


class Area(NamedTuple):
    """`left` < `right`, `top` < `bottom`, except for lines, which have no height or width. A page may draw thousands."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    def grown(self, by: float) -> Area:
        """With `by` points more on each side."""
        return Area(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: Area, gap: float = 0.0) -> bool:
        """Whether the two share a point, or are no more than `gap` apart from left to right and from top to bottom."""
        return (
            self.left - gap <= other.right
            and other.left <= self.right + gap
            and self.top - gap <= other.bottom
            and other.top <= self.bottom + gap
        )

    def holds_middle_of(self, other: Area) -> bool:
        """Whether the middle of `other` lies inside."""
        x, y = (other.left + other.right) / 2, (other.top + other.bottom) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def beside(self, other: Area) -> float:
        """Which part of the narrower one's width the two share, 0 to 1."""
        left, right = self.left, self.right
        low, high = other.left, other.right
        shared = (right if right < high else high) - (left if left > low else low)
        if shared <= 0:
            return 0.0
        return shared / max(min(right - left, high - low), 1.0)

    def fractions(self, width: float, height: float) -> Box | None:
        """The area in fractions of a page of that size, clipped to it; None where nothing of it is left."""
        edges = (self.left / width, self.top / height, self.right / width, self.bottom / height)
        x1, y1, x2, y2 = (round(min(max(edge, 0.0), 1.0), 4) for edge in edges)
        return Box(x1, y1, x2, y2) if x1 < x2 and y1 < y2 else None


def union(areas: Iterable[Area]) -> Area:
    """The smallest area that holds all of them; there is at least one."""
    first, *rest = areas
    left, top, right, bottom = first.left, first.top, first.right, first.bottom
    for area in rest:  # plain comparisons: thousands of strokes are joined
        left = area.left if area.left < left else left
        top = area.top if area.top < top else top
        right = area.right if area.right > right else right
        bottom = area.bottom if area.bottom > bottom else bottom
    return Area(left, top, right, bottom)


def clusters(areas: Sequence[Area], gap: float) -> list[Area]:
    """Areas no further apart than `gap`, joined; what is joined with another may join a third. From top to bottom.

    >>> [each.bottom for each in clusters([Area(0, 0, 9, 9), Area(0, 12, 9, 20), Area(0, 40, 9, 50)], 5)]
    [20, 50]
    """
    groups = _coarse(areas)
    joined = True
    while joined:
        joined = False
        made: list[Area] = []
        for area in sorted(groups, key=lambda each: (each.top, each.left)):
            near = [other for other in made if other.meets(area, gap)]
            if near:
                made = [other for other in made if other not in near]
                area, joined = union([area, *near]), True
            made.append(area)
        groups = made
    return sorted(groups, key=lambda each: (each.top, each.left))


_MOST = 300
"""Areas that are compared each with each."""


def _coarse(areas: Sequence[Area]) -> list[Area]:
    """Areas with nearly the same middle joined, the more of them there are the farther apart."""
    step, groups = 2.0, list(dict.fromkeys(areas))
    while len(groups) > _MOST:
        cells: dict[tuple[int, int], Area] = {}
        for area in groups:
            cell = int((area.left + area.right) / 2 // step), int((area.top + area.bottom) / 2 // step)
            cells[cell] = union((cells[cell], area)) if cell in cells else area
        groups, step = list(cells.values()), step * 2
    return groups
