"""What stands where on one page: its lines and what it draws, on the page as it is shown.

Rectangles on a page as it is shown, in points from its top left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from attrs import field, frozen

from citekit.adapters.formats.pdf.document.graphics import Drawn, page_graphics
from citekit.adapters.formats.pdf.document.text import Line
from citekit.adapters.libraries.mupdf.engine import exclusive
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


THIN = 3.0
"""Points up to which a drawn shape is a rule."""

_WHOLE = 0.9
"""The part of a page's width and height from which on a shape is its background."""


@frozen
class PageLayout:
    """`lines` as `PageTexts` gives them and `places` where each stands; `rules` are thin, `shapes` are not."""

    width: float
    height: float
    lines: Sequence[Line]
    places: Sequence[Area]
    shapes: Sequence[Area]
    rules: Sequence[Area]
    pictures: Sequence[Area] = field(default=())


def layout_of(page: Any, lines: Sequence[Line]) -> PageLayout:
    """The layout of `page`, whose lines are `lines`. Raises what PyMuPDF does."""
    drawn, _ = page_graphics(page)
    with exclusive() as pymupdf:
        width, height = max(page.rect.width, 1.0), max(page.rect.height, 1.0)
        turn = page.rotation_matrix if page.rotation else None
        edges = [(line.left, line.top, line.right, line.bottom) for line in lines]
        places = [Area(*(edge if turn is None else tuple(pymupdf.Rect(edge) * turn))) for edge in edges]
    visible = [area for each in drawn if (area := _clipped(each, width, height)) is not None]
    return PageLayout(
        width,
        height,
        lines,
        places,
        shapes=[area for area, _ in visible if min(area.width, area.height) > THIN],
        rules=[area for area, _ in visible if min(area.width, area.height) <= THIN < max(area.width, area.height)],
        pictures=[area for area, picture in visible if picture],
    )


def _clipped(drawn: Drawn, width: float, height: float) -> tuple[Area, bool] | None:
    """Its part on the page; None where there is none, or all of the page is.

    None, too, for a shape that reaches far beyond the page: how much of it is seen is up to a clip that nobody told.
    """
    left, top, right, bottom, picture = drawn
    far = 0.03 * max(width, height)
    if not picture and (-left > far or -top > far or right - width > far or bottom - height > far):
        return None
    area = Area(max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height))
    outside = area.right < area.left or area.bottom < area.top
    if outside or (area.width > _WHOLE * width and area.height > _WHOLE * height):
        return None
    return area, picture
