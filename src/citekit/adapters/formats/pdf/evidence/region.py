"""Clips a PDF page to a region, and converts regions between the displayed and the unrotated page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from citekit.adapters.libraries.mupdf.engine import Document, exclusive
from citekit.domain.locations import Box

_UNROTATE: dict[int, Callable[[float, float], tuple[float, float]]] = {
    0: lambda x, y: (x, y),
    90: lambda x, y: (y, 1 - x),
    180: lambda x, y: (1 - x, 1 - y),
    270: lambda x, y: (1 - y, x),
}
"""Converts a point of the displayed page to the page before its clockwise rotation, in fractions."""


def displayed_area(page: Document, region: Box | None) -> Any:
    """Return `region` as a rectangle of the displayed page in points; with None, return the whole page."""
    whole = page.rect
    if region is None:
        return whole
    x1, y1, x2, y2 = region.corners
    width, height = whole.width, whole.height
    with exclusive() as pymupdf:
        return pymupdf.Rect(
            whole.x0 + x1 * width, whole.y0 + y1 * height, whole.x0 + x2 * width, whole.y0 + y2 * height
        )


def unrotated_corners(region: Box, rotation: int) -> tuple[float, float, float, float]:
    """Return the corners (x1, y1, x2, y2) of `region` on the page before its clockwise rotation in degrees."""
    turn = _UNROTATE[rotation % 360]
    (xa, ya), (xb, yb) = turn(region.x1, region.y1), turn(region.x2, region.y2)
    return min(xa, xb), min(ya, yb), max(xa, xb), max(ya, yb)


def clip_page(page: Document, region: Box) -> tuple[str, ...]:
    """Clip `page` to `region`, which becomes the page's size, remove text and drawings outside it, and return notes.

    Characters, lines, and pictures that cross the edge stay complete in the file, but only the part inside is
    displayed. Annotations outside the region are removed.
    """
    with exclusive() as pymupdf:
        rotation = page.rotation
        x1, y1, x2, y2 = unrotated_corners(region, rotation)
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
    return (
        "Characters, lines, and pictures that cross the edge of the region are stored whole in the file, but only the part "
        "inside the region is visible.",
    )


def _drop_outside(page: Document, area: Any) -> None:
    for annotation in list(page.annots()):
        if not annotation.rect.intersects(area):
            page.delete_annot(annotation)
    for link in page.get_links():
        if not link["from"].intersects(area):
            page.delete_link(link)
