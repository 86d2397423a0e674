"""Finds the boxes in which a PDF page draws text, pictures, shapes, and lines, without decoding or rendering them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from citekit.adapters.formats.pdf.document.painting import Box
from citekit.adapters.libraries.mupdf.engine import exclusive

CONTENT_LIMIT = 3_000_000
"""The maximum size in bytes of a page's content that is searched. A page with more is usually a plan or a city map."""

BOX_LIMIT = 30_000
"""The number of items on a page after which `boxes_of` stops. A page with more is usually a plot."""

_OPERATORS = (b"Do", b" re", b" l", b"\nl", b"EI")

_DRAWING = ("fill_path", "stroke_path", "fill_shade", "fill_image", "fill_image_mask")
_PICTURES = ("fill-image", "fill-imgmask")
_VISIBLE_TEXT = ("fill_text", "stroke_text")


class Drawn(NamedTuple):
    """A picture, path, or shading that a page draws, with its edges in points from the top left of the displayed page."""

    left: float
    top: float
    right: float
    bottom: float
    picture: bool


def page_graphics(page: Any, *, text: bool = False) -> tuple[list[Drawn], bool]:
    """Return the pictures, paths, and shadings that `page` draws, and, with `text`, whether it draws visible text.

    With `text`, the search stops at the first visible text, so graphics drawn after it are missing from the result.
    `page.get_bboxlog` is slower, and temporarily changes the page's rotation.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        cookie = mupdf.FzCookie()
        device = _boxes_class()((*_DRAWING, *_VISIBLE_TEXT) if text else _DRAWING, cookie)
        mupdf.fz_run_page(page.this, device, mupdf.FzMatrix(), cookie)
        mupdf.fz_close_device(device)
        found: list[tuple[str, Box]] = device.found
        return [Drawn(*box, kind in _PICTURES) for kind, box in found], device.is_stopped


def boxes_of(page: Any) -> list[tuple[str, Box]]:
    """Return the kinds and boxes of what `page` and its annotations paint, in order, as `page.get_bboxlog` returns
    them.

    If the page is not rotated, this is faster, and stops soon after `BOX_LIMIT` items. Call it inside `exclusive()` or
    `opened()`.
    """
    if page.rotation:
        turned: list[tuple[str, Box]] = page.get_bboxlog()
        return turned
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        cookie = mupdf.FzCookie()
        device = _boxes_class()((*_DRAWING, *_VISIBLE_TEXT, "ignore_text"), cookie, BOX_LIMIT)
        mupdf.fz_run_page(page.this, device, mupdf.FzMatrix(), cookie)
        mupdf.fz_close_device(device)
        found: list[tuple[str, Box]] = device.found
        return found


@cache
def _boxes_class() -> Any:
    """Return the class of a MuPDF device that records the kinds and boxes of what is drawn."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        bound_path, bound_text = mupdf.ll_fz_bound_path, mupdf.ll_fz_bound_text

    class Boxes(mupdf.FzDevice2):  # type: ignore[misc,name-defined]  # the library has no types
        def __init__(self, methods: Sequence[str], cookie: Any, limit: int = 0) -> None:
            """Record what the device methods in `methods` draw, up to `limit` items, or, if it is 0, to the first
            visible text.
            """
            super().__init__()
            self.found: list[tuple[str, Box]] = []
            self.is_stopped, self._cookie, self._limit = False, cookie, limit
            for name in methods:
                getattr(self, f"use_virtual_{name}")()

        def add(self, kind: str, box: Any) -> None:
            self.found.append((kind, (box.x0, box.y0, box.x1, box.y1)))
            if len(self.found) > self._limit > 0:
                self.stop()

        def stop(self) -> None:
            self.is_stopped, self._cookie.m_internal.abort = True, 1

        def fill_path(self, _: Any, path: Any, _rule: Any, ctm: Any, *_more: Any) -> None:
            self.add("fill-path", bound_path(path, None, ctm))

        def stroke_path(self, _: Any, path: Any, stroke: Any, ctm: Any, *_more: Any) -> None:
            self.add("stroke-path", bound_path(path, stroke, ctm))

        def fill_text(self, _: Any, text: Any, ctm: Any, *_more: Any) -> None:
            self.add_text("fill-text", text, None, ctm)

        def stroke_text(self, _: Any, text: Any, stroke: Any, ctm: Any, *_more: Any) -> None:
            self.add_text("stroke-text", text, stroke, ctm)

        def add_text(self, kind: str, text: Any, stroke: Any, ctm: Any) -> None:
            if self._limit:
                self.add(kind, bound_text(text, stroke, ctm))
            else:
                self.stop()

        def ignore_text(self, _: Any, text: Any, ctm: Any) -> None:
            self.add("ignore-text", bound_text(text, None, ctm))

        def fill_shade(self, _: Any, shade: Any, ctm: Any, *_more: Any) -> None:
            self.add("fill-shade", mupdf.ll_fz_bound_shade(shade, ctm))

        def fill_image(self, _: Any, _image: Any, ctm: Any, *_more: Any) -> None:
            self.add("fill-image", mupdf.ll_fz_transform_rect(mupdf.fz_unit_rect, ctm))

        def fill_image_mask(self, _: Any, _image: Any, ctm: Any, *_more: Any) -> None:
            self.add("fill-imgmask", mupdf.ll_fz_transform_rect(mupdf.fz_unit_rect, ctm))

    return Boxes


def may_draw(page: Any) -> bool:
    """Return whether `page` may draw anything other than text; False if its content is too long or cannot be read."""
    try:
        with exclusive():
            content = page.read_contents()
    except Exception:  # a damaged page draws nothing; PyMuPDF can raise any exception then
        return False
    return len(content) <= CONTENT_LIMIT and any(order in content for order in _OPERATORS)
