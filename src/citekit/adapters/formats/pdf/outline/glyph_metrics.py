"""Measures the glyphs of scanned lines: how large the letters are and how thick their strokes.

The height of an OCR box is too inexact to tell headings from body text. The rows of ink in the box are exact, and the
recognized text shows whether they reach to the cap height.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import is_heading_number
from citekit.adapters.formats.shared.ocr import OcrLine
from citekit.domain.locations import Box

if TYPE_CHECKING:
    from PIL.Image import Image

CAP_HEIGHT = 0.68
"""The height of capitals and of `b`, `d`, `l` as a multiple of the font size in common fonts (0.66 to 0.72)."""

X_HEIGHT = 0.45
"""The height of letters such as `x` as a multiple of the font size."""

IDEOGRAPH_HEIGHT = 0.9
"""The height of a line of Chinese characters or kana, as a multiple of the font size."""

_MIN_CONTRAST = 60
"""The smallest difference in gray levels between ink and background."""

_NOISE = 0.3
"""A gray level at most this share of the way from background to ink is noise."""

_ROW_INK = 0.06
"""The minimum ink of a pixel row that belongs to a line, as a share of the ink of the fullest row."""

_ROW_PIXELS = 1.0
"""The same minimum in pixels. The smaller minimum applies, because in a long line few letters reach the cap height."""

_RULE_INK = 0.8
"""The minimum share of ink in a row that is a rule, in a table or below a title."""

_GAP = (0.06, 0.2)
"""The maximum number of empty rows inside a line, as a share of the height of its box: first for most lines, then for
lines of at most `_FEW` ideographs, such as `二`.
"""

_FEW = 4

_BASELINE_INK = 0.45
"""The minimum ink of the row above the baseline, as a share of the fullest row. Below it, only descenders have ink."""

_MANY_TALL = 8
"""The minimum number of tall letters and figures in a line that make the top of most of them clear."""

_TALL_INK = 0.35
"""The minimum ink of the rows of tall letters, as a share of the width of as many strokes."""

_RAISED, _HIGHEST = 0.1, 0.45
"""The minimum and maximum distance from the top of superscripts to that of tall letters, as a share of the height of a
line.
"""

_SLANTS = tuple(step / 500 for step in range(-10, 11))
"""The slopes of a line that are tried: about one degree to either side."""

_SLANT_SAMPLE = 9
"""The number of lines that determine the slant of a page."""

_ASCENDERS = frozenset("bdfhkltß0123456789()[]{}|/\\!?&%$#@\"'`´‘’“”*^<>")
_DESCENDERS = frozenset("gjpqyQ()[]{}|/,;_@$ç„‚")
_MANY_DESCENDERS = 0.4
"""The minimum share of characters with descenders at which the baseline is estimated instead of measured."""

_IDEOGRAPHS = range(0x2E80, 0xD7B0)


@frozen
class GlyphMetrics:
    """The glyph metrics of a line, in pixels: font `size`, `stroke` width, top of the capitals, and baseline.

    `top` and `baseline` are distances from the top of the image.
    """

    size: float
    stroke: float
    top: float
    baseline: float


def join_numbers(lines: Sequence[OcrLine], aspect: float) -> list[OcrLine]:
    """Return the lines, with each dotted section number that OCR read as a separate line joined to the heading on its
    right.

    `aspect` is the width of the image divided by its height.
    """
    joined = list(lines)
    for number in [line for line in lines if is_heading_number(line.text.strip()) and "." in line.text]:
        beside = [line for line in joined if line is not number and _is_right_of(number.box, line.box, aspect)]
        if beside:
            nearest = min(beside, key=lambda line: line.box.x1)
            box = Box(number.box.x1, nearest.box.y1, nearest.box.x2, nearest.box.y2)
            joined[joined.index(nearest)] = evolve(nearest, text=f"{number.text.strip()} {nearest.text}", box=box)
            joined.remove(number)
    return joined


def _is_right_of(one: Box, other: Box, aspect: float) -> bool:
    """Return whether `other` is to the right of `one` at the same height, at most six box heights away, or overlaps it."""
    height = one.y2 - one.y1
    level = abs(one.y1 + one.y2 - other.y1 - other.y2) < height
    return level and other.x1 > (one.x1 + one.x2) / 2 and (other.x1 - one.x2) * aspect < 6 * height


def measure_glyphs(grey: Image, lines: Sequence[OcrLine]) -> list[GlyphMetrics | None]:
    """Return the glyph metrics of each line in the upright grayscale image `grey`; None if it is faint or too small."""
    widest = sorted(lines, key=lambda line: line.box.x1 - line.box.x2)[:_SLANT_SAMPLE]
    slants = [slant for line in widest if (slant := _slant_of(grey, line)) is not None]
    slant = median(slants) if slants else 0.0
    return [_metrics_of(grey, line, slant) for line in lines]


def _slant_of(grey: Image, line: OcrLine) -> float | None:
    """Return the slope of a line of text, at which the amounts of ink in the pixel rows differ most; None if it is
    short or faint.
    """
    crop, _ = _cropped(grey, line)
    dark = _ink_mask(crop)
    if dark is None or crop.width < 8 * crop.height:
        return None
    return max(_SLANTS, key=lambda slant: (sum(row * row for row in _ink_of_rows(_deskewed(dark, slant))), -abs(slant)))


def _metrics_of(grey: Image, line: OcrLine, slant: float) -> GlyphMetrics | None:
    crop, above = _cropped(grey, line)
    dark = _ink_mask(crop)
    if dark is None:
        return None
    dark = _deskewed(dark, slant)
    rows = _ink_of_rows(dark)
    start, end = _line_rows(rows, _GAP[_is_ideographic(line.text) and len(line.text) <= _FEW] * dark.height)
    base = _baseline_row(line.text, rows, start, end)
    if base - start >= 3:
        start = _below_superscripts(line.text, rows, start, base, _stroke_width(dark.crop((0, start, dark.width, end))))
    if base - start < 3:
        return None
    size, top = _size(line.text, start, base, end)
    return GlyphMetrics(size, _stroke_width(dark.crop((0, start, dark.width, end))), above + top, above + base)


def _cropped(grey: Image, line: OcrLine) -> tuple[Image, int]:
    """Return the image of a line's box, enlarged by 10 percent at the top and bottom, and its upper edge in pixels."""
    width, height = grey.size
    top, bottom = line.box.y1 * height, line.box.y2 * height
    more = 0.1 * (bottom - top)
    edges = line.box.x1 * width, max(0.0, top - more), line.box.x2 * width, min(height, bottom + more)
    left, upper = math.floor(edges[0]), math.floor(edges[1])
    return grey.crop((left, upper, math.ceil(edges[2]), math.ceil(edges[3]))), upper


def _ink_mask(crop: Image) -> Image | None:
    """Return the ink of `crop` as an image from 0 (background) to 255 (ink), or None if the contrast is too low."""
    shades = crop.histogram()
    ground = max(range(256), key=lambda shade: (shades[shade], shade))
    dark, light = _percentile(shades, 0.01), _percentile(shades, 0.99)
    ink = dark if ground - dark >= light - ground else light
    span = abs(ground - ink)
    if span < _MIN_CONTRAST:
        return None
    ways = [(ground - shade) / (ground - ink) for shade in range(256)]
    return crop.point([round(255 * min(way, 1.0)) if way > _NOISE else 0 for way in ways])


def _percentile(shades: Sequence[int], part: float) -> int:
    """Return the gray level that a share of `part` (0 to 1) of the pixels does not exceed, from the histogram `shades`."""
    wanted, passed = part * sum(shades), 0
    for shade, count in enumerate(shades):
        passed += count
        if passed > wanted:
            return shade
    return 255


def _deskewed(dark: Image, slant: float) -> Image:
    """Return the image of a line of text sheared by its slope `slant`, so that the text runs horizontally."""
    from PIL.Image import Resampling, Transform

    if abs(slant) * dark.width < 1:
        return dark
    matrix = (1, 0, 0, slant, 1, -slant * dark.width / 2)
    return dark.transform(dark.size, Transform.AFFINE, matrix, Resampling.BILINEAR)


def _ink_of_rows(dark: Image) -> list[float]:
    """Return the amount of ink in each pixel row, in pixels; 0 for rows that a ruled line fills."""
    from PIL.Image import Resampling

    means = array("f", dark.convert("F").resize((1, dark.height), Resampling.BOX).tobytes())
    return [mean * dark.width / 255 if mean < _RULE_INK * 255 else 0.0 for mean in means]


def _line_rows(rows: Sequence[float], gap: float) -> tuple[int, int]:
    """Return the range of pixel rows of the text line around the row with the most ink, without rows beyond a gap."""
    fullest = max(range(len(rows)), key=lambda row: rows[row])
    least = min(_ROW_INK * rows[fullest], _ROW_PIXELS)
    start = end = fullest
    for row in range(fullest, -1, -1):
        if rows[row] > least and start - row <= gap + 1:
            start = row
    for row in range(fullest, len(rows)):
        if rows[row] > least and row - end <= gap + 1:
            end = row
    return start, end + 1


def _baseline_row(text: str, rows: Sequence[float], start: int, end: int) -> int:
    """Return the pixel row just below the baseline, from the ink of each row in `rows` or, with many descenders,
    estimated.
    """
    low = sum(character in _DESCENDERS for character in text)
    if not low or _is_ideographic(text):
        return end
    if low >= _MANY_DESCENDERS * len(text.replace(" ", "")):
        return start + round((end - start) * CAP_HEIGHT / IDEOGRAPH_HEIGHT)
    fullest = max(rows[start:end])
    return 1 + max(row for row in range(start, end) if rows[row] >= _BASELINE_INK * fullest)


def _below_superscripts(text: str, rows: Sequence[float], start: int, base: int, stroke: float) -> int:
    """Return the row of the top of most letters, which is below `start` if only a few raised ones reach it (`5th`).

    These may also connect the line to the one above.
    """
    tall = sum(character in _ASCENDERS or character.isupper() for character in text)
    if tall < _MANY_TALL or _is_ideographic(text):
        return start
    top = base - max(base - start, 2) // 2
    while top > start and rows[top - 1] >= _TALL_INK * tall * stroke:
        top -= 1
    return top if _RAISED * (base - start) <= top - start <= _HIGHEST * (base - start) else start


def _size(text: str, start: int, base: int, end: int) -> tuple[float, float]:
    """Return the font size and the row of the top of the capitals, in pixels, from the top, baseline, and bottom rows."""
    if _is_ideographic(text):
        return (end - start) / IDEOGRAPH_HEIGHT, start
    if any(character in _ASCENDERS or character.isupper() for character in text):
        return (base - start) / CAP_HEIGHT, start
    size = (base - start) / X_HEIGHT
    return size, base - CAP_HEIGHT * size


def _is_ideographic(text: str) -> bool:
    """Return whether more than half of the letters and digits of `text` are Chinese, Japanese, or Korean."""
    letters = [character for character in text if character.isalnum()]
    return sum(ord(letter) in _IDEOGRAPHS for letter in letters) * 2 > len(letters)


def _stroke_width(dark: Image) -> float:
    """Return the average stroke width in pixels: the area of the ink divided by half its outline."""
    from PIL import ImageChops

    across = ImageChops.difference(dark, ImageChops.offset(dark, 1, 0))
    down = ImageChops.difference(dark, ImageChops.offset(dark, 0, 1))
    edge = _sum(across) + _sum(down)
    return 2 * _sum(dark) / edge if edge else 0.0


def _sum(picture: Image) -> int:
    return sum(shade * count for shade, count in enumerate(picture.histogram()))
