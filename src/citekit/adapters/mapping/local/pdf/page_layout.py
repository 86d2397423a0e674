"""What stands where on one page: its lines and what it draws, on the page as it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from citekit.adapters.drivers.pdf_graphics import Drawn, page_graphics
from citekit.adapters.drivers.pdf_text import Line
from citekit.adapters.drivers.pymupdf import exclusive
from citekit.adapters.mapping.local.pdf.areas import Area

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
