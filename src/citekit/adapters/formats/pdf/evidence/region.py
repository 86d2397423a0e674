"""Cuts a page down to a region of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.domain.locations import Box

_TURNS: dict[int, Callable[[float, float], tuple[float, float]]] = {
    0: lambda x, y: (x, y),
    90: lambda x, y: (y, 1 - x),
    180: lambda x, y: (1 - x, 1 - y),
    270: lambda x, y: (1 - y, x),
}
"""From a point of the page as shown to the same point of the page before it is turned clockwise, in fractions."""


def shown_area(page: Document, region: Box | None) -> Any:
    """`region` as a rectangle of the page as it is shown, in points; the whole page where it is None."""
    whole = page.rect
    if region is None:
        return whole
    x1, y1, x2, y2 = region.corners
    width, height = whole.width, whole.height
    with exclusive() as pymupdf:
        return pymupdf.Rect(
            whole.x0 + x1 * width, whole.y0 + y1 * height, whole.x0 + x2 * width, whole.y0 + y2 * height
        )


def unturned(region: Box, rotation: int) -> tuple[float, float, float, float]:
    """The corners (x1, y1, x2, y2) of `region` on the page before it is turned by `rotation` degrees clockwise."""
    turn = _TURNS[rotation % 360]
    (xa, ya), (xb, yb) = turn(region.x1, region.y1), turn(region.x2, region.y2)
    return min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)


def clip_page(page: Document, region: Box) -> tuple[str, ...]:
    """Make `region` all that is left of `page`: its size is that of the region, and text and drawings outside are gone.

    A character, line or picture that lies across the edge stays whole in the file and is shown as far as it is inside.
    Annotations outside go. Returns notes.
    """
    with exclusive() as pymupdf:
        rotation = page.rotation
        x1, y1, x2, y2 = unturned(region, rotation)
        page.set_rotation(0)
        width, height = page.rect.width, page.rect.height
        area = pymupdf.Rect(x1 * width, y1 * height, x2 * width, y2 * height)
        _drop_outside(page, area)
        page.clip_to_rect(area)
        paper = page.cropbox
        width, height = paper.width, paper.height
        box = pymupdf.Rect(paper.x0 + x1 * width, paper.y0 + y1 * height, paper.x0 + x2 * width, paper.y0 + y2 * height)
        page.set_cropbox(box)
        page.set_rotation(rotation)
    return ("Pictures that lie across the edge of the region are whole in the file, and shown inside it only.",)


def _drop_outside(page: Document, area: Any) -> None:
    for annotation in list(page.annots()):
        if not annotation.rect.intersects(area):
            page.delete_annot(annotation)
    for link in page.get_links():
        if not link["from"].intersects(area):
            page.delete_link(link)
