"""Finds where the glyphs of a PDF page leave ink, and draws the page with and without its text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from attrs import define, field, frozen

from citekit.adapters.formats.pdf.document.hidden_text import Drawing
from citekit.adapters.formats.pdf.document.painting import Box, drawn_without
from citekit.adapters.libraries.mupdf.engine import exclusive

GLYPHS = 60_000
"""The maximum number of glyphs on a page that are judged. The densest real pages have a third as many."""

_GLYPH_PIXELS = 96
"""The longer side, in pixels, of the drawing of a single glyph."""

_USUAL: Box = (-1.0, -1.0, 2.0, 2.0)
"""The usual extent of a glyph, in ems from its origin."""

_LARGEST = 1e6
"""The maximum size in ems of a glyph that is drawn alone."""

_FAINT = 8
"""A pixel of a single glyph counts as ink if it is more than this number of gray levels (of 255) darker than white."""

_BOUNDS = 50_000
"""The maximum number of glyph boxes that are cached."""


class Ink(NamedTuple):
    """A character with the Unicode code point `code` and the box of its glyph's outline on the displayed page.

    `text` numbers its text object in painting order. `x` and `y` are the origin of the glyph, in points. `is_void` is
    true if nothing is painted. `is_unpainted` is true in rendering mode 3 (invisible); MuPDF reports colored glyphs of
    Type 3 fonts (`is_procedure`) in this mode, too, and draws them like graphics. If one glyph shows several
    characters, `continues` is true for those after the first.
    """

    text: int
    code: int
    x: float
    y: float
    box: Box
    is_void: bool
    is_unpainted: bool
    is_procedure: bool
    continues: bool


@frozen
class Inks:
    """The glyphs of a page; without `is_whole`, only the first `GLYPHS`.

    `is_plain` is true if the page has no clipping text and no tiling patterns.
    """

    glyphs: Sequence[Ink]
    is_plain: bool
    is_whole: bool


def inks_of(page: Any) -> Inks:
    """Return the glyphs that `page` and its annotations show. Call it inside `exclusive()` or `opened()`."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        device = _inks_class()()
        mupdf.fz_run_page(page.this, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
        return Inks(device.inks[:GLYPHS], device.is_plain, len(device.inks) <= GLYPHS)


@frozen
class PageDrawings:
    """Draws a page with or without its text. Use it inside `exclusive()` or `opened()`.

    A page is recorded once, because pages with many transparent groups are then drawn a hundred times faster. Pages
    that are not plain (see `Inks.is_plain`) are not recorded, and are drawn whole.
    """

    page: Any
    is_plain: bool
    _record: Any = field(init=False)

    @_record.default
    def _recorded(self) -> Any:
        if not self.is_plain:
            return None
        with exclusive() as pymupdf:
            return pymupdf.mupdf.fz_new_display_list_from_page(self.page.this)

    def draw(self, zoom: float, *, area: Box | None = None, text: bool) -> Drawing:
        """Return a drawing of the page, or of the box `area` of it, with or without its text."""
        if not self.is_plain:
            return self.partial(zoom, () if text else None)
        with _hard_edges():
            return self._drawn_plainly(zoom, area, text=text)

    def partial(self, zoom: float, left_out: Collection[int] | None) -> Drawing:
        """Return a drawing of the page without the text objects numbered in `left_out` (None for all)."""
        with _hard_edges():
            pixmap = drawn_without(self.page, zoom, left_out)
        return Drawing(pixmap.samples, pixmap.width, pixmap.height, zoom, pixmap.n)

    def _drawn_plainly(self, zoom: float, area: Box | None, *, text: bool) -> Drawing:
        with exclusive() as pymupdf:
            mupdf = pymupdf.mupdf
            matrix, bounds = mupdf.fz_scale(zoom, zoom), mupdf.fz_bound_page(self.page.this)
            wanted = bounds if area is None else mupdf.fz_intersect_rect(mupdf.FzRect(*area), bounds)
            edges = mupdf.fz_round_rect(mupdf.fz_transform_rect(wanted, matrix))
            pixmap = mupdf.fz_new_pixmap_with_bbox(mupdf.fz_device_rgb(), edges, mupdf.FzSeparations(), 0)
            mupdf.fz_clear_pixmap_with_value(pixmap, 255)
            device = mupdf.fz_new_draw_device(mupdf.FzMatrix(), pixmap)
            if not text:
                device.m_internal.fill_text = device.m_internal.stroke_text = (
                    None  # MuPDF skips calls that a device does not implement
                )
            mupdf.fz_run_display_list(self._record, device, matrix, mupdf.FzRect(edges), mupdf.FzCookie())
            mupdf.fz_close_device(device)
            whole = pymupdf.Pixmap("raw", pixmap)
            return Drawing(whole.samples, whole.width, whole.height, zoom, whole.n, edges.x0, edges.y0)


@contextmanager
def _hard_edges() -> Iterator[None]:
    """Draw shapes, but not glyphs, without antialiasing, because text shows through the smooth edges of shapes that
    cover it.
    """
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf
        before = mupdf.fz_graphics_aa_level()
        mupdf.fz_set_graphics_aa_level(0)
        try:
            yield
        finally:
            mupdf.fz_set_graphics_aa_level(before)


@define
class _Bounds:
    """The boxes of glyphs relative to their origins, cached per font, glyph number, and matrix; empty if nothing is
    painted.
    """

    mupdf: Any
    known: dict[tuple[float, ...], Box] = field(factory=dict)
    procedures: dict[tuple[int, int], Box | None] = field(factory=dict)

    def box(self, font: Any, glyph: tuple[int, int], scales: tuple[float, ...], *, is_procedure: bool) -> Box:
        key = (*glyph, *scales)
        found = self.known.get(key)
        if found is None:
            found = self._of_procedure(font, glyph, scales) if is_procedure else self._of_outline(font, glyph, scales)
            if len(self.known) < _BOUNDS:
                self.known[key] = found
        return found

    def _of_outline(self, font: Any, glyph: tuple[int, int], scales: tuple[float, ...]) -> Box:
        rect = self.mupdf.ll_fz_bound_glyph(font, glyph[1], self.mupdf.ll_fz_make_matrix(*scales, 0.0, 0.0))
        return rect.x0, rect.y0, rect.x1, rect.y1

    def _of_procedure(self, font: Any, glyph: tuple[int, int], scales: tuple[float, ...]) -> Box:
        if glyph not in self.procedures:
            self.procedures[glyph] = _drawn_alone(self.mupdf, font, glyph[1])
        box, (a, b, c, d) = self.procedures[glyph], scales
        if box is None:
            return 0.0, 0.0, 0.0, 0.0
        corners = [(x, y) for x in box[::2] for y in box[1::2]]
        across = [x * a + y * c for x, y in corners]
        down = [x * b + y * d for x, y in corners]
        return min(across), min(down), max(across), max(down)


def _names_none(name: str) -> bool:
    """Return whether the color space that MuPDF calls `name` paints nothing, such as `Separation(DeviceGray,None)`."""
    kind, _, names = name.removesuffix(")").partition("(")
    return kind in ("Separation", "DeviceN") and {*names.split(",")[1:]} == {"None"}


@cache
def _inks_class() -> Any:
    """Return the class of a MuPDF device that collects the glyphs of a page."""
    with exclusive() as pymupdf:
        mupdf = pymupdf.mupdf

    class Collector(mupdf.FzDevice2):  # type: ignore[misc,name-defined]  # the library has no types
        def __init__(self) -> None:
            super().__init__()
            self.inks: list[Ink] = []
            self.count = 0
            self.is_plain = True
            self.bounds = _Bounds(mupdf)
            for name in ("fill_text", "stroke_text", "clip_text", "clip_stroke_text", "ignore_text", "begin_tile"):
                getattr(self, f"use_virtual_{name}")()

        def collect(self, text: Any, ctm: Any, *, void: bool = False, unpainted: bool = False) -> None:
            number = self.count
            self.count += 1
            span = text.head
            a, b, c, d, e, f = ctm.a, ctm.b, ctm.c, ctm.d, ctm.e, ctm.f
            while span and len(self.inks) <= GLYPHS:
                self.collect_span(span, number, (a, b, c, d, e, f), void=void, unpainted=unpainted)
                span = span.next

        def collect_span(self, span: Any, number: int, ctm: tuple[float, ...], *, void: bool, unpainted: bool) -> None:
            each, font = mupdf.FzTextSpan(span), span.font
            address, is_procedure = int(font.this), bool(mupdf.ll_fz_font_t3_procs(font))
            own, (a, b, c, d, e, f) = span.trm, ctm
            scales = (
                own.a * a + own.b * c, own.a * b + own.b * d, own.c * a + own.d * c, own.c * b + own.d * d
            )  # fmt: skip
            glyph, box = (address, -1), (0.0, 0.0, 0.0, 0.0)
            for at in range(span.len):
                item = each.items(at)
                continues = item.gid < 0
                if not continues:
                    glyph = address, item.gid
                    box = self.bounds.box(font, glyph, scales, is_procedure=is_procedure)
                x, y = item.x * a + item.y * c + e, item.x * b + item.y * d + f
                left, top, right, bottom = box
                is_void = void or right <= left or bottom <= top
                edges = x + left, y + top, x + right, y + bottom
                self.inks.append(Ink(number, item.ucs, x, y, edges, is_void, unpainted, is_procedure, continues))

        def fill_text(self, _: Any, text: Any, ctm: Any, space: Any, *_more: Any) -> None:
            self.collect(text, ctm, void=bool(space) and _names_none(mupdf.ll_fz_colorspace_name(space)))

        def stroke_text(self, _: Any, text: Any, _stroke: Any, ctm: Any, space: Any, *_more: Any) -> None:
            self.collect(text, ctm, void=bool(space) and _names_none(mupdf.ll_fz_colorspace_name(space)))

        def clip_text(self, _: Any, text: Any, ctm: Any, *_more: Any) -> None:
            self.is_plain = False
            self.collect(text, ctm)

        def clip_stroke_text(self, _: Any, text: Any, _stroke: Any, ctm: Any, *_more: Any) -> None:
            self.is_plain = False
            self.collect(text, ctm)

        def ignore_text(self, _: Any, text: Any, ctm: Any) -> None:
            self.collect(text, ctm, unpainted=True)

        def begin_tile(self, _: Any, *_more: Any) -> int:
            self.is_plain = False
            return 0

    return Collector


def _drawn_alone(mupdf: Any, font: Any, number: int) -> Box | None:
    """Return the box, in ems, of what a Type 3 glyph paints, or None if nothing is found.

    MuPDF reports the box of the whole font instead.
    """
    known = mupdf.ll_fz_bound_glyph(font, number, mupdf.ll_fz_make_matrix(1, 0, 0, 1, 0, 0))
    for left, top, right, bottom in (_USUAL, (known.x0, known.y0, known.x1, known.y1)):
        side = max(right - left, bottom - top)
        if not 0 < side < _LARGEST:
            continue
        zoom = _GLYPH_PIXELS / side
        found = _inked(mupdf, font, number, mupdf.FzMatrix(zoom, 0, 0, zoom, 2 - left * zoom, 2 - top * zoom))
        if found is not None:
            x0, y0, x1, y1 = ((edge - 2) / zoom for edge in found)
            return left + x0, top + y0, left + x1, top + y1
    return None


def _inked(mupdf: Any, font: Any, number: int, matrix: Any) -> tuple[int, int, int, int] | None:
    """Return the box of the dark pixels of a glyph that is drawn alone in black on white; None if there are none."""
    text = mupdf.fz_new_text()
    owned = mupdf.FzFont(mupdf.ll_fz_keep_font(font))
    mupdf.fz_show_glyph(text, owned, mupdf.FzMatrix(), number, 65, 0, 0, mupdf.FZ_BIDI_LTR, mupdf.FZ_LANG_UNSET)
    size = _GLYPH_PIXELS + 4
    area = mupdf.FzIrect(0, 0, size, size)
    pixmap = mupdf.fz_new_pixmap_with_bbox(mupdf.fz_device_gray(), area, mupdf.FzSeparations(), 0)
    mupdf.fz_clear_pixmap_with_value(pixmap, 255)
    device = mupdf.fz_new_draw_device(mupdf.FzMatrix(), pixmap)
    mupdf.fz_fill_text(device, text, matrix, mupdf.fz_device_gray(), (0.0,), 1.0, mupdf.FzColorParams())
    mupdf.fz_close_device(device)
    samples = bytes(mupdf.fz_pixmap_samples_memoryview(pixmap))
    rows = [row for row in range(size) if min(samples[row * size : (row + 1) * size]) < 255 - _FAINT]
    columns = [column for column in range(size) if min(samples[column::size]) < 255 - _FAINT]
    return (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1) if rows and columns else None
