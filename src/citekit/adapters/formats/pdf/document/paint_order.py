"""Detects PDF pages that may hide text, from MuPDF's record of what a page paints, in which order and color.

Unlike rendering, this is fast enough for every page of a long document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from citekit.adapters.formats.pdf.document.graphics import BOX_LIMIT, boxes_of
from citekit.adapters.formats.pdf.document.painting import AREAS, Box, contains, painted
from citekit.adapters.libraries.mupdf.hidden_text_signs import Signs

_Color = tuple[float, ...]
"""A color in gray, RGB, or CMYK, from 0 to 1."""

_THIN = 2.0
"""An area of at most this thickness, in points, is a line, which covers no text."""

_PALE = 0.65
"""If no RGB channel (0 to 1) of a color is below this value, the color may be hard to distinguish from white."""

_NEAR = 0.3
"""If a text and its background differ by less than this in each RGB channel (0 to 1), the page must be rendered."""

_BAND = 16.0
"""The height in points of the bands of a page in which the texts that an area may cover are looked up."""

_PAIRS = 200_000
"""The maximum number of pairs of text and areas that are compared. A page with more may hide text."""

_BANDS = 1024
_WIDEST = 1e6
_AREAS = ("fill-path", "fill-shade", "fill-image", "fill-imgmask")


def may_hide_text(page: Any, signs: Signs) -> bool:
    """Return whether `page` may hide text, or paints too much to tell. Call it inside `exclusive()` or `opened()`.

    `signs` are the signs of hidden text in the page's content streams.
    """
    if signs.text or not signs:
        return signs.text
    record = boxes_of(page)
    return (
        len(record) > BOX_LIMIT
        or (signs.areas and _may_be_covered(page, record, strokes=signs.strokes))
        or (signs.is_light and _may_be_white_on_white(page, record))
    )


def _may_be_covered(page: Any, record: Sequence[tuple[str, Box]], *, strokes: bool) -> bool:
    if any(
        kind == "fill-shade" and box[2] - box[0] > _WIDEST for kind, box in record
    ):  # a shading fills the area that it is clipped to
        things = painted(page)
        thick = {at for at, each in enumerate(things) if each.kind in AREAS}
        return _may_cover([("" if at in thick else "fill-text", each.box) for at, each in enumerate(things)], thick)
    return _may_cover(record, _thick_strokes(page) if strokes else ())


def _thick_strokes(page: Any) -> Collection[int]:
    """Return the positions, in painting order, of lines that are thick enough to cover text."""
    return {each["seqno"] for each in page.get_cdrawings() if (each.get("width") or 0) > _THIN}


def _may_cover(painted: Sequence[tuple[str, Box]], thick: Collection[int]) -> bool:
    """Return whether an area, or a line whose position is in `thick`, is painted over earlier text, or too much is
    painted to tell.
    """
    texts: dict[int, list[Box]] = {}
    pairs = 0
    for at, (kind, box) in enumerate(painted):
        left, top, right, bottom = box
        if kind in _AREAS or at in thick:
            if right - left <= _THIN or bottom - top <= _THIN:
                continue
            for band in range(_band(top), _band(bottom) + 1):
                inside = texts.get(band, ())
                pairs += len(inside)
                if pairs > _PAIRS or any(contains(box, text) for text in inside):
                    return True
        elif kind.endswith("-text") and right > left and bottom > top:
            texts.setdefault(_band((top + bottom) / 2), []).append(box)
    return False


def _may_be_white_on_white(page: Any, record: Sequence[tuple[str, Box]]) -> bool:
    """Return whether the page has text without a plain color, or pale text whose background may be similar and is not a
    picture.

    Also return True if there are too many pairs of text and areas to compare.
    """
    pale = [span for span in page.get_texttrace() if span["color"] is None or min(_rgb(span["color"])) >= _PALE]
    if not pale:
        return False
    images = [(at, box) for at, (kind, box) in enumerate(record) if kind in _AREAS[1:]]
    fills = [each for each in page.get_cdrawings() if each.get("fill") is not None]
    if len(pale) * (len(fills) + len(images)) > _PAIRS:
        return True
    return any(
        span["color"] is None
        or (
            not any(at < span["seqno"] and _overlap(box, span["bbox"]) for at, box in images)
            and any(_is_near(_rgb(span["color"]), ground) for ground in _grounds(span["seqno"], span["bbox"], fills))
        )
        for span in pale
    )


def _grounds(at: int, box: Box, fills: Sequence[dict[str, Any]]) -> Iterator[_Color]:
    """Yield the colors that may be behind a text: white (the paper) and earlier fills, except those below an opaque
    rectangle.
    """
    below: list[_Color] = [(1.0, 1.0, 1.0)]
    for fill in fills:
        if fill["seqno"] >= at:
            break
        if _overlap(fill["rect"], box):
            items = fill["items"]
            is_rectangle = len(items) == 1 and items[0][0] == "re"
            if is_rectangle and fill.get("fill_opacity", 1) == 1 and contains(fill["rect"], box):
                below.clear()
            below.append(_rgb(fill["fill"]))
    yield from below


def _rgb(color: _Color) -> _Color:
    if len(color) == 4:
        cyan, magenta, yellow, black = color
        return tuple(max(0.0, 1 - each - black) for each in (cyan, magenta, yellow))
    return color * 3 if len(color) == 1 else color


def _is_near(one: _Color, other: _Color) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < _NEAR


def _band(height: float) -> int:
    return int(min(max(height / _BAND, 0.0), _BANDS))


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
