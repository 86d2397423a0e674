"""Records what a PDF page paints, in order, and renders the page without some of its text.

Text objects are numbered in painting order, visible or not.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from citekit.adapters.libraries.mupdf.engine import exclusive

THIN = 2.0
"""An area of at most this thickness, in points, is a line, which covers no text."""

GLYPH_LIMIT = 200_000
"""The maximum number of characters of one page whose positions are collected."""


class Kind(Enum):
    """The kind of an item that a page paints.

    `UNPAINTED` is text in rendering mode 3 (invisible); MuPDF also reports colored glyphs of Type 3 fonts in this mode.
    `CLIP` is text that clips what is painted later. A `SHAPE` is a path other than a rectangle, or a thick line: it may
    leave some of its box unpainted. A `PICTURE` is an image or a shading.
    """

    TEXT = "text"
    CLIP = "clip"
    UNPAINTED = "unpainted"
    RECTANGLE = "rectangle"
    SHAPE = "shape"
    PICTURE = "picture"


AREAS = (Kind.RECTANGLE, Kind.SHAPE, Kind.PICTURE)
"""The kinds of items that are not text and may cover text."""

Box = tuple[float, float, float, float]
"""The left, top, right, and bottom edges in points from the top left corner of the displayed page."""


class Painted(NamedTuple):
    """An item (text, path, or picture) that a page paints, with its box on the page.

    `color` is RGB from 0 to 1, or None if it is unknown or a pattern or picture supplies it. `alpha` is the opacity
    from 0 to 1. `veiled` is true in a soft-masked or nearly transparent group. `size` is the size of the smallest
    characters of a text in points, infinity for a Type 3 font, or 0 if it was not measured.
    """

    kind: Kind
    box: Box
    color: tuple[float, float, float] | None
    alpha: float
    veiled: bool
    size: float = 0.0


class Glyph(NamedTuple):
    """A character of text object number `text`, with the origin of its glyph (`x`, `y`) and its size, in points.

    The size is infinity for a Type 3 font. If one glyph shows several characters (a ligature), `continues` is true for
    those after the first.
    """

    x: float
    y: float
    code: int
    text: int
    size: float
    continues: bool = False


_Color = tuple[float, float, float]

_COLORS = 10_000
"""The maximum number of colors of one page that are cached."""

_SPANS = 100
"""The maximum number of pieces of a text object whose sizes are examined."""

_VEILED = 0.2
"""The opacity of a group below which its text is checked."""

_FORWARDED = (
    "fill_path", "stroke_path", "clip_path", "clip_stroke_path", "fill_shade", "fill_image", "fill_image_mask",
    "clip_image_mask", "pop_clip", "begin_mask", "begin_group", "end_group", "end_tile", "render_flags",
    "set_default_colorspaces",
)  # fmt: skip

_SHOWN = ("fill_text", "stroke_text", "clip_text", "clip_stroke_text", "ignore_text")
"""Methods of a device for text; each call is one text object."""


def contains(outer: Box, inner: Box) -> bool:
    """Return whether `inner` is inside `outer`, or at most one point outside."""
    return (
        outer[0] <= inner[0] + 1 and outer[1] <= inner[1] + 1 and outer[2] >= inner[2] - 1 and outer[3] >= inner[3] - 1
    )


def painted(page: Any) -> list[Painted]:
    """Return the items that `page` and its annotations paint, in order, without strokes that are at most `THIN` wide.

    Call this function inside `exclusive()` or `opened()`.
    """
    found: list[Painted] = _run(page, _log_class()()).found
    return found


def outlined(page: Any, *, texts: bool, sizes: bool) -> tuple[list[Painted], bool]:
    """Return the same items as `painted`, but without `color`, `alpha`, and `veiled` for texts.

    Without `texts`, filled and stroked texts are left out; without `sizes`, their sizes are 0. The second result is
    whether any group is soft-masked or nearly transparent. Call this function inside `exclusive()` or `opened()`.
    """
    device = _run(page, _outline_class()(texts=texts, sizes=sizes))
    found: list[Painted] = device.found
    return found, device.is_veiled


def glyphs_of(page: Any, texts: Collection[int]) -> list[Glyph]:
    """Return the characters of the text objects numbered `texts` on `page`, about `GLYPH_LIMIT` at most.

    Call this function inside `exclusive()` or `opened()`.
    """
    found: list[Glyph] = _run(page, _glyphs_class()(texts)).glyphs
    return found


def _run(page: Any, device: Any) -> Any:
    """Run the contents of `page` through `device`, and return the device."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        mupdf.fz_run_page(page.this, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
    return device


def drawn_without(page: Any, zoom: float, left_out: Collection[int] | None) -> Any:
    """Return an RGB pixmap of `page` rendered at `zoom` without the text objects numbered in `left_out` (None for all)."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        matrix = mupdf.fz_scale(zoom, zoom)
        area = mupdf.fz_round_rect(mupdf.fz_transform_rect(mupdf.fz_bound_page(page.this), matrix))
        space = mupdf.fz_device_rgb()
        pixmap = mupdf.fz_new_pixmap_with_bbox(space, area, mupdf.FzSeparations(), 0)
        mupdf.fz_clear_pixmap_with_value(pixmap, 255)
        target = mupdf.fz_new_draw_device(mupdf.FzMatrix(), pixmap)
        device = _partial_class()(target, left_out)
        mupdf.fz_run_page(page.this, device, matrix, mupdf.FzCookie())
        mupdf.fz_close_device(device)
        mupdf.fz_close_device(target)
        return pymupdf.Pixmap("raw", pixmap)  # otherwise it is copied, with an alpha channel


class _Colors:
    """A converter of colors to RGB that caches the colors of device color spaces."""

    def __init__(self, mupdf: Any) -> None:
        self._mupdf = mupdf
        self._target = mupdf.FzColorspace(mupdf.FzColorspace.Fixed_RGB).m_internal
        self._wrapped = mupdf.FzColorParams()  # owns what `internal` returns
        self._parameters = self._wrapped.internal()
        spaces = (mupdf.ll_fz_device_gray(), mupdf.ll_fz_device_rgb(), mupdf.ll_fz_device_cmyk())
        self._device = {int(space.this): count for space, count in zip(spaces, (1, 3, 4), strict=True)}
        """The number of components of the device color spaces, by address: these spaces are never freed."""
        self._known: dict[tuple[float, ...], _Color] = {}

    def rgb(self, space: Any, color: Any) -> _Color | None:
        """Return `color` as RGB from 0 to 1, or None if there is no color space or the color cannot be converted."""
        if not space:
            return None
        count = self._device.get(int(space.this), 0)
        if not count:
            return self._converted(space, color)
        key = tuple([self._mupdf.floats_getitem(color, at) for at in range(count)])
        found = self._known.get(key)
        if found is None:
            found = self._converted(space, color)
            if found is not None and len(self._known) < _COLORS:
                self._known[key] = found
        return found

    def _converted(self, space: Any, color: Any) -> _Color | None:
        try:
            red, green, blue = self._mupdf.ll_fz_convert_color(space, color, self._target, None, self._parameters)[:3]
        except Exception:  # a damaged color space; PyMuPDF can raise any exception then
            return None
        return red, green, blue


def _size(mupdf: Any, text: Any, ctm: Any) -> float:
    span = text.head
    if not span:
        return 0.0
    least = _scale(mupdf, span, ctm)
    span = span.next
    count = 1
    while span and count < _SPANS:
        least = min(least, _scale(mupdf, span, ctm))
        span = span.next
        count += 1
    return least


def _scale(mupdf: Any, span: Any, ctm: Any) -> float:
    """Return the height or the width scale of a text span, whichever is smaller; infinity for a Type 3 font."""
    if mupdf.ll_fz_font_t3_procs(span.font):
        return math.inf
    matrix = span.trm  # each access to a member of a MuPDF structure is a call
    a, b, c, d = matrix.a, matrix.b, matrix.c, matrix.d
    e, f, g, h = ctm.a, ctm.b, ctm.c, ctm.d
    across = math.hypot(a * e + b * g, a * f + b * h)
    down = math.hypot(c * e + d * g, c * f + d * h)
    return min(across, down)


def _common(one: Box, other: Box) -> Box:
    left, top = max(one[0], other[0]), max(one[1], other[1])
    return left, top, max(left, min(one[2], other[2])), max(top, min(one[3], other[3]))


@cache
def _log_class() -> Any:
    """Return the class of a MuPDF device that records painted items."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf

    class Log(mupdf.FzDevice2):  # type: ignore[misc,name-defined]  # the library has no types
        def __init__(self, *, texts: bool = True) -> None:
            super().__init__()
            self.found: list[Painted] = []
            self.is_veiled = False
            self.colors = _Colors(mupdf)
            self.groups: list[tuple[bool, Box | None]] = [(False, None)]
            """For each open group: whether its items are veiled, and the box that they are clipped to, or None."""

            for name in (
                "fill_path", "fill_shade", "fill_image", "fill_image_mask", "clip_text", "clip_stroke_text", "ignore_text",
                "begin_mask", "end_mask", "begin_group", "end_group", "begin_tile", "pop_clip", "clip_path",
                "clip_stroke_path", "clip_image_mask", "stroke_path", *(("fill_text", "stroke_text") if texts else ()),
            ):  # fmt: skip
                getattr(self, f"use_virtual_{name}")()

        def add(
            self, kind: Kind, box: Any, color: Any = None, alpha: float = 1.0, text: Any = None, ctm: Any = None
        ) -> None:
            edges = box.x0, box.y0, box.x1, box.y1
            veiled, clip = self.groups[-1]
            size = 0.0
            if text is not None:
                size = _size(mupdf, text, ctm)
            elif clip is not None:
                edges = _common(edges, clip)
            self.found.append(Painted(kind, edges, color, alpha, veiled, size))

        def open(self, veiled: bool = False, clip: Box | None = None) -> None:
            was_veiled, outer = self.groups[-1]
            both = outer if clip is None else clip if outer is None else _common(outer, clip)
            self.groups.append((was_veiled or veiled, both))
            self.is_veiled = self.is_veiled or veiled

        def fill_path(
            self, _: Any, path: Any, _rule: Any, ctm: Any, space: Any, color: Any, alpha: float, *_more: Any
        ) -> None:
            kind = Kind.RECTANGLE if mupdf.ll_fz_path_is_rect(path, ctm) else Kind.SHAPE
            self.add(kind, mupdf.ll_fz_bound_path(path, None, ctm), self.colors.rgb(space, color), alpha)

        def stroke_path(
            self, _: Any, path: Any, stroke: Any, ctm: Any, space: Any, color: Any, alpha: float, *_more: Any
        ) -> None:
            if stroke.linewidth * mupdf.ll_fz_matrix_expansion(ctm) > THIN:
                box = mupdf.ll_fz_bound_path(path, stroke, ctm)
                self.add(Kind.SHAPE, box, self.colors.rgb(space, color), alpha)

        def fill_shade(self, _: Any, shade: Any, ctm: Any, alpha: float, *_more: Any) -> None:
            self.add(Kind.PICTURE, mupdf.ll_fz_bound_shade(shade, ctm), None, alpha)

        def fill_image(self, _: Any, _image: Any, ctm: Any, alpha: float, *_more: Any) -> None:
            self.add(Kind.PICTURE, mupdf.ll_fz_transform_rect(mupdf.fz_unit_rect, ctm), None, alpha)

        def fill_image_mask(self, _: Any, _image: Any, ctm: Any, *_more: Any) -> None:
            self.add(Kind.PICTURE, mupdf.ll_fz_transform_rect(mupdf.fz_unit_rect, ctm))

        def fill_text(self, _: Any, text: Any, ctm: Any, space: Any, color: Any, alpha: float, *_more: Any) -> None:
            self.add(
                Kind.TEXT, mupdf.ll_fz_bound_text(text, None, ctm), self.colors.rgb(space, color), alpha, text, ctm
            )

        def stroke_text(
            self, _: Any, text: Any, stroke: Any, ctm: Any, space: Any, color: Any, alpha: float, *_more: Any
        ) -> None:
            self.add(
                Kind.TEXT, mupdf.ll_fz_bound_text(text, stroke, ctm), self.colors.rgb(space, color), alpha, text, ctm
            )

        def clip_text(self, _: Any, text: Any, ctm: Any, *_more: Any) -> None:
            self.add(Kind.CLIP, mupdf.ll_fz_bound_text(text, None, ctm), None, 1.0, text, ctm)
            self.open()

        def clip_stroke_text(self, _: Any, text: Any, stroke: Any, ctm: Any, *_more: Any) -> None:
            self.add(Kind.CLIP, mupdf.ll_fz_bound_text(text, stroke, ctm), None, 1.0, text, ctm)
            self.open()

        def ignore_text(self, _: Any, text: Any, ctm: Any) -> None:
            self.add(Kind.UNPAINTED, mupdf.ll_fz_bound_text(text, None, ctm), None, 1.0, text, ctm)

        def begin_tile(self, _: Any, *_more: Any) -> int:
            return 0

        def begin_mask(self, *_: Any) -> None:
            self.open(veiled=True)

        def end_mask(self, *_: Any) -> None:  # everything up to `pop_clip` is seen through the mask
            return

        def begin_group(
            self, _: Any, _area: Any, _space: Any, _isolated: Any, _knockout: Any, _mode: Any, alpha: float
        ) -> None:
            self.open(veiled=alpha < _VEILED)

        def end_group(self, *_: Any) -> None:
            if len(self.groups) > 1:
                self.groups.pop()

        def clip_path(self, _: Any, path: Any, _rule: Any, ctm: Any, *_more: Any) -> None:
            box = mupdf.ll_fz_bound_path(path, None, ctm)
            self.open(clip=(box.x0, box.y0, box.x1, box.y1))

        def clip_stroke_path(self, *_: Any) -> None:
            self.open()

        clip_image_mask = clip_stroke_path
        pop_clip = end_group

    return Log


@cache
def _outline_class() -> Any:
    """Return the class of a MuPDF device that records painted items without the colors and opacities of texts."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        bound_text = mupdf.ll_fz_bound_text

    class Outlines(_log_class()):  # type: ignore[misc]  # the library has no types
        def __init__(self, *, texts: bool, sizes: bool) -> None:
            super().__init__(texts=texts)
            self.sizes = sizes

        def fill_text(self, _: object, text: Any, ctm: Any, *_more: object) -> None:
            self.outline(text, None, ctm)

        def stroke_text(self, _: object, text: Any, stroke: object, ctm: Any, *_more: object) -> None:
            self.outline(text, stroke, ctm)

        def outline(self, text: Any, stroke: object, ctm: Any) -> None:
            box = bound_text(text, stroke, ctm)
            size = _size(mupdf, text, ctm) if self.sizes else 0.0
            self.found.append(Painted(Kind.TEXT, (box.x0, box.y0, box.x1, box.y1), None, 1.0, False, size))

    return Outlines


@cache
def _glyphs_class() -> Any:
    """Return the class of a MuPDF device that collects the characters of chosen text objects."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf

    class Glyphs(mupdf.FzDevice2):  # type: ignore[misc,name-defined]  # the library has no types
        def __init__(self, texts: Collection[int]) -> None:
            super().__init__()
            self.texts, self.count = texts, 0
            self.glyphs: list[Glyph] = []
            for name in (*_SHOWN, "begin_tile"):
                getattr(self, f"use_virtual_{name}")()

        def collect(self, text: Any, ctm: Any) -> None:
            number = self.count
            self.count += 1
            span = text.head if number in self.texts else None
            while span and len(self.glyphs) < GLYPH_LIMIT:
                each, size = mupdf.FzTextSpan(span), _scale(mupdf, span, ctm)
                for at in range(span.len):
                    item = each.items(at)
                    x = item.x * ctm.a + item.y * ctm.c + ctm.e
                    y = item.x * ctm.b + item.y * ctm.d + ctm.f
                    self.glyphs.append(Glyph(x, y, item.ucs, number, size, item.gid < 0))
                span = span.next

        def fill_text(self, _: Any, text: Any, ctm: Any, *_more: Any) -> None:
            self.collect(text, ctm)

        def stroke_text(self, _: Any, text: Any, _stroke: Any, ctm: Any, *_more: Any) -> None:
            self.collect(text, ctm)

        clip_text = ignore_text = fill_text
        clip_stroke_text = stroke_text

        def begin_tile(self, _: Any, *_more: Any) -> int:
            return 0

    return Glyphs


@cache
def _partial_class() -> Any:
    """Return the class of a MuPDF device that forwards everything except chosen text objects to another device."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        plain = mupdf._mupdf  # the wrapper of `fill_text` wants a list for a color, and the device is given a pointer

    class Partial(mupdf.FzDevice2):  # type: ignore[misc,name-defined]  # the library has no types
        def __init__(self, target: Any, left_out: Collection[int] | None) -> None:
            super().__init__()
            self.target, self.left_out = target.m_internal, left_out
            self.count = 0
            for name in (*_FORWARDED, *_SHOWN, "end_mask", "begin_tile"):
                getattr(self, f"use_virtual_{name}")()

        def leaves_out(self) -> bool:
            number = self.count
            self.count += 1
            return self.left_out is None or number in self.left_out

        def fill_text(self, _: Any, text: Any, ctm: Any, *rest: Any) -> None:
            if not self.leaves_out():
                plain.ll_fz_fill_text(self.target, text, ctm, *rest)

        def stroke_text(self, _: Any, text: Any, stroke: Any, ctm: Any, *rest: Any) -> None:
            if not self.leaves_out():
                mupdf.ll_fz_stroke_text(self.target, text, stroke, ctm, *rest)

        def clip_text(self, _: Any, text: Any, ctm: Any, scissor: Any) -> None:
            if self.leaves_out():
                self.clip_all(ctm)
            else:
                mupdf.ll_fz_clip_text(self.target, text, ctm, scissor)

        def clip_stroke_text(self, _: Any, text: Any, stroke: Any, ctm: Any, scissor: Any) -> None:
            if self.leaves_out():
                self.clip_all(ctm)
            else:
                mupdf.ll_fz_clip_stroke_text(self.target, text, stroke, ctm, scissor)

        def clip_all(self, ctm: Any) -> None:
            """Clip everything, because nothing is visible through a clipping text that is left out."""
            path = mupdf.FzPath()
            mupdf.ll_fz_clip_path(self.target, path.m_internal, 0, ctm, mupdf.fz_empty_rect)

        def ignore_text(self, *_: Any) -> None:
            self.leaves_out()

        def begin_tile(self, _: Any, area: Any, view: Any, xstep: float, ystep: float, ctm: Any, *_ids: Any) -> int:
            mupdf.ll_fz_begin_tile(self.target, area, view, xstep, ystep, ctm)
            return 0

        def end_mask(self, _: Any, function: Any = None) -> None:
            mupdf.ll_fz_end_mask_tr(self.target, function)

    for name in _FORWARDED:
        setattr(Partial, name, _forwarding(getattr(mupdf, f"ll_fz_{name}")))
    return Partial


def _forwarding(call: Any) -> Any:
    def forward(self: Any, _: Any, *rest: Any) -> None:
        call(self.target, *rest)

    return forward
