"""Finds the rectangles in which a PDF page draws pictures, shapes, and lines, without decoding or rendering them."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from citekit.adapters.libraries.mupdf.engine import exclusive

CONTENT_LIMIT = 3_000_000
"""Bytes of a page's drawing orders that are followed; a page with more is a map or a plan."""

_OPERATORS = (b"Do", b" re", b" l", b"\nl", b"EI")


_DRAWING = ("fill_path", "stroke_path", "fill_shade", "fill_image", "fill_image_mask")
_WRITING = ("fill_text", "stroke_text")


class Drawn(NamedTuple):
    """A picture or path that a page draws: its edges in points from the top left corner of the displayed page.

    `picture` is True for a picture and False for a path.
    """

    left: float
    top: float
    right: float
    bottom: float
    picture: bool


def page_graphics(page: Any, *, text: bool = False) -> tuple[list[Drawn], bool]:
    """Return the pictures and paths that `page` draws, and, with `text`, whether it draws visible text.

    The invisible text layer over a scan does not count as visible. With `text`, the search stops at the first visible
    text, so graphics drawn after it are missing from the result. `page.get_bboxlog` is not used because it also
    measures all text and changes the page's rotation in the meantime.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        cookie = mupdf.FzCookie()
        log = _log_class()(cookie if text else None)
        mupdf.fz_run_page(page.this, log, mupdf.FzMatrix(), cookie)
        mupdf.fz_close_device(log)
        return log.drawn, log.text


@cache
def _log_class() -> Any:
    """Return the class of a MuPDF device that records what is drawn.

    MuPDF calls its methods by name with raw pointers.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf

    class Log(mupdf.FzDevice2):  # type: ignore[misc,name-defined]  # the library has no types
        def __init__(self, cookie: Any) -> None:
            super().__init__()
            self.drawn: list[Drawn] = []
            self.text, self._cookie = False, cookie
            for name in (*_DRAWING, *(_WRITING if cookie is not None else ())):
                getattr(self, f"use_virtual_{name}")()

        def fill_path(self, _: Any, path: Any, _rule: Any, ctm: Any, *_more: Any) -> None:
            self.add(mupdf.ll_fz_bound_path(path, None, ctm))

        def stroke_path(self, _: Any, path: Any, stroke: Any, ctm: Any, *_more: Any) -> None:
            self.add(mupdf.ll_fz_bound_path(path, stroke, ctm))

        def fill_shade(self, _: Any, shade: Any, ctm: Any, *_more: Any) -> None:
            self.add(mupdf.ll_fz_bound_shade(shade, ctm))

        def fill_image(self, _: Any, _image: Any, ctm: Any, *_more: Any) -> None:
            self.add(mupdf.ll_fz_transform_rect(mupdf.fz_unit_rect, ctm), picture=True)

        fill_image_mask = fill_image

        def fill_text(self, *_: Any) -> None:
            self.text = True
            self._cookie.m_internal.abort = 1

        stroke_text = fill_text

        def add(self, box: Any, picture: bool = False) -> None:
            self.drawn.append(Drawn(box.x0, box.y0, box.x1, box.y1, picture))

    return Log


def may_draw(page: Any) -> bool:
    """Return whether `page` may draw anything other than text, by a cheap search of its content for drawing operators.

    The result is False if the content is longer than `CONTENT_LIMIT` or cannot be read.
    """
    try:
        with exclusive():
            content = page.read_contents()
    except Exception:  # a damaged page draws nothing; what PyMuPDF raises then is of any kind
        return False
    return len(content) <= CONTENT_LIMIT and any(order in content for order in _OPERATORS)
