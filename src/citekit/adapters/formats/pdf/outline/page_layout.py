"""Determines the layout of a page: its lines, shapes, ruled lines, and pictures as rectangles on the displayed page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from attrs import field, frozen

from citekit.adapters.formats.pdf.document.graphics import Drawn, page_graphics
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.libraries.mupdf.engine import exclusive
from citekit.domain.locations import Box


class Area(NamedTuple):
    """A rectangle in points, with `left` <= `right` and `top` <= `bottom`; a named tuple because a page may have
    thousands.

    A ruled line may have no width or no height.
    """

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """The distance from left to right, in points."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The distance from top to bottom, in points."""
        return self.bottom - self.top

    def expanded(self, by: float) -> Area:
        """Return this area extended by `by` points on each side."""
        return Area(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def touches(self, other: Area, gap: float = 0.0) -> bool:
        """Return whether the areas share a point or are at most `gap` points apart on both axes."""
        return (
            self.left - gap <= other.right
            and other.left <= self.right + gap
            and self.top - gap <= other.bottom
            and other.top <= self.bottom + gap
        )

    def contains_center_of(self, other: Area) -> bool:
        """Return whether the center of `other` is inside this area."""
        x, y = (other.left + other.right) / 2, (other.top + other.bottom) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def horizontal_overlap(self, other: Area) -> float:
        """Return the share (0 to 1) of the narrower area's width that both areas have in common."""
        left, right = self.left, self.right
        low, high = other.left, other.right
        shared = (right if right < high else high) - (left if left > low else low)
        if shared <= 0:
            return 0.0
        return shared / max(min(right - left, high - low), 1.0)

    def fractions(self, width: float, height: float) -> Box | None:
        """Return the area as fractions of a page of the given size, clipped to the page; None if nothing remains."""
        edges = (self.left / width, self.top / height, self.right / width, self.bottom / height)
        x1, y1, x2, y2 = (round(min(max(edge, 0.0), 1.0), 4) for edge in edges)
        return Box(x1, y1, x2, y2) if x1 < x2 and y1 < y2 else None


def union(areas: Iterable[Area]) -> Area:
    """Return the smallest area that contains all `areas`. There must be at least one area."""
    first, *rest = areas
    left, top, right, bottom = first.left, first.top, first.right, first.bottom
    for area in rest:  # plain comparisons: thousands of strokes are joined
        left = area.left if area.left < left else left
        top = area.top if area.top < top else top
        right = area.right if area.right > right else right
        bottom = area.bottom if area.bottom > bottom else bottom
    return Area(left, top, right, bottom)


def clusters(areas: Sequence[Area], gap: float) -> list[Area]:
    """Return the areas from top to bottom, with those that are at most `gap` points apart joined, transitively.

    >>> [each.bottom for each in clusters([Area(0, 0, 9, 9), Area(0, 12, 9, 20), Area(0, 40, 9, 50)], 5)]
    [20, 50]
    """
    groups = _merge_coarsely(areas)
    joined = True
    while joined:
        joined = False
        made: list[Area] = []
        for area in sorted(groups, key=lambda each: (each.top, each.left)):
            near = [other for other in made if other.touches(area, gap)]
            if near:
                made = [other for other in made if other not in near]
                area, joined = union([area, *near]), True
            made.append(area)
        groups = made
    return sorted(groups, key=lambda each: (each.top, each.left))


_PAIRWISE_LIMIT = 300
"""The maximum number of areas that are compared pair by pair."""


def _merge_coarsely(areas: Sequence[Area]) -> list[Area]:
    """Return at most `_PAIRWISE_LIMIT` areas, joined by the cells of an ever coarser grid that contain their centers."""
    step, groups = 2.0, list(dict.fromkeys(areas))
    while len(groups) > _PAIRWISE_LIMIT:
        cells: dict[tuple[int, int], Area] = {}
        for area in groups:
            cell = int((area.left + area.right) / 2 // step), int((area.top + area.bottom) / 2 // step)
            cells[cell] = union((cells[cell], area)) if cell in cells else area
        groups, step = list(cells.values()), step * 2
    return groups


RULE_THICKNESS = 3.0
"""The maximum thickness of a rule in points."""

_BACKGROUND_SHARE = 0.9
"""The share of a page's width and of its height above which a drawing is the page's background."""


@frozen
class PageLayout:
    """The layout of a displayed page, in points: its size, text lines, drawn shapes, ruled lines, and pictures.

    `line_areas` are the rectangles of `lines`, in the same order. `rules` are drawings of at most `RULE_THICKNESS` in
    one direction. `shapes` are thicker in both, and include pictures.
    """

    width: float
    height: float
    lines: Sequence[StyledLine]
    line_areas: Sequence[Area]
    shapes: Sequence[Area]
    rules: Sequence[Area]
    pictures: Sequence[Area] = field(default=())


def layout_of(page: Any, lines: Sequence[StyledLine]) -> PageLayout:
    """Return the layout of `page`, whose text lines are `lines`. Raise the same errors as PyMuPDF."""
    drawn, _ = page_graphics(page)
    with exclusive() as pymupdf:
        width, height = max(page.rect.width, 1.0), max(page.rect.height, 1.0)
        turn = page.rotation_matrix if page.rotation else None
        edges = [(line.left, line.top, line.right, line.bottom) for line in lines]
        line_areas = [Area(*(edge if turn is None else tuple(pymupdf.Rect(edge) * turn))) for edge in edges]
    visible = [area for each in drawn if (area := _visible_part(each, width, height)) is not None]
    return PageLayout(
        width,
        height,
        lines,
        line_areas,
        shapes=[area for area, _ in visible if min(area.width, area.height) > RULE_THICKNESS],
        rules=[
            area for area, _ in visible if min(area.width, area.height) <= RULE_THICKNESS < max(area.width, area.height)
        ],
        pictures=[area for area, picture in visible if picture],
    )


def _visible_part(drawn: Drawn, width: float, height: float) -> tuple[Area, bool] | None:
    """Return the part of `drawn` that is on the page, and whether it is a picture.

    The result is None for the background of the page, and if no part is on the page. It is also None for a path far
    beyond the page, because an unknown clipping path decides how much of it is visible.
    """
    left, top, right, bottom, picture = drawn
    far = 0.03 * max(width, height)
    if not picture and (-left > far or -top > far or right - width > far or bottom - height > far):
        return None
    area = Area(max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height))
    outside = area.right < area.left or area.bottom < area.top
    if outside or (area.width > _BACKGROUND_SHARE * width and area.height > _BACKGROUND_SHARE * height):
        return None
    return area, picture
