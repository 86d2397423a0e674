"""Where a PDF page draws: pictures, shapes and lines, as rectangles, without decoding or drawing anything."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from citekit.adapters.drivers.pymupdf import exclusive

CONTENT_LIMIT = 3_000_000
"""Bytes of a page's drawing orders that are followed; a page with more is a map or a plan."""

_OPERATORS = (b"Do", b" re", b" l", b"\nl", b"EI")


@frozen
class Drawn:
    """One thing that is drawn: its edges in points from the top left of the page as it is shown; `picture` or path."""

    left: float
    top: float
    right: float
    bottom: float
    picture: bool


def page_graphics(page: Any) -> tuple[list[Drawn], bool]:
    """What `page` draws beside text, and whether any text on it can be seen (a reader's layer over a scan cannot)."""
    with exclusive() as pymupdf:
        log = page.get_bboxlog()
        turn = page.rotation_matrix
        shown = {
            "fill-image": True,
            "fill-imgmask": True,
            "fill-path": False,
            "stroke-path": False,
            "fill-shade": False,
        }
        drawn, text = [], False
        for kind, edges in log:
            text = text or kind in ("fill-text", "stroke-text")
            if kind in shown:
                box = pymupdf.Rect(edges) * turn if page.rotation else edges
                drawn.append(Drawn(box[0], box[1], box[2], box[3], shown[kind]))
        return drawn, text


def may_draw(page: Any) -> bool:
    """Whether `page` may draw anything but text; False where its orders are too many to follow. Cheap."""
    try:
        with exclusive():
            content = page.read_contents()
    except Exception:  # a damaged page draws nothing; what PyMuPDF raises then is of any kind
        return False
    return len(content) <= CONTENT_LIMIT and any(order in content for order in _OPERATORS)
