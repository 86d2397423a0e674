"""The ink of a line of a scan: how large its letters are and how thick their strokes.

The box in which a reader of text found a line is loose, by as much as headings are larger than text. The rows of ink in it
are not: most letters reach from the line they stand on to the height of capitals, and the text that was read says whether
any of them do.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import is_number
from citekit.adapters.formats.shared.ocr import OcrLine
from citekit.domain.locations import Box

if TYPE_CHECKING:
    from PIL.Image import Image

CAPITAL = 0.68
"""The height of capitals and of `b`, `d`, `l` in sizes of the type, as usual fonts have it (0.66 to 0.72)."""

SMALL = 0.45
"""The height of letters such as `x`."""

IDEOGRAPH = 0.9
"""The height of Chinese and Japanese characters and of kana in a line, from the lowest to the highest."""

_SPAN = 60
"""Shades of grey that ink is darker, or lighter, than the ground at least."""

_FAINT = 0.3
"""The part of the way from the ground to the ink up to which a shade is noise."""

_ROW = 0.06
"""The ink of a row of a line, as a part of that of its fullest one, from which on it is surely one of its own."""

_PIXELS = 1.0
"""The same in pixels: in a long line a few letters alone reach to the height of capitals."""

_RULE = 0.8
"""The part of a row that is ink from which on it is a rule, in a table or below a title."""

_GAP = (0.06, 0.2)
"""Empty rows inside of a line, as a part of its height: of an `i`, of a few characters such as `二`."""

_FEW = 4

_BASE = 0.45
"""The same of a row above the line that letters stand on; below it only a few go on."""

_SLANTS = tuple(step / 500 for step in range(-10, 11))
"""How far a line may rise or fall along its length, in parts of it: a degree to either side."""

_SAMPLE = 9
"""Lines that tell how a page is turned."""

_TALL = frozenset("bdfhkltß0123456789()[]{}|/\\!?&%$#@\"'`´‘’“”*^<>")
_LOW = frozenset("gjpqyQ()[]{}|/,;_@$ç„‚")
_MANY = 0.4
"""The part of the characters of a line that go below it, from which on the line that letters stand on is not seen."""

_WIDE = range(0x2E80, 0xD7B0)


@frozen
class Ink:
    """A line's type in pixels: the `size` of the type, the thickness of a `stroke`, and the `top` and `base` of its letters.

    `top` is the height of capitals, `base` the line that letters stand on, both from the top of the picture.
    """

    size: float
    stroke: float
    top: float
    base: float


def with_numbers(lines: Sequence[OcrLine], aspect: float) -> list[OcrLine]:
    """The lines, each number that was read apart from the heading to its right joined to it.

    `aspect` is the width of the picture divided by its height.
    """
    joined = list(lines)
    for number in [line for line in lines if is_number(line.text.strip()) and "." in line.text]:
        beside = [line for line in joined if line is not number and _is_beside(number.box, line.box, aspect)]
        if beside:
            nearest = min(beside, key=lambda line: line.box.x1)
            box = Box(number.box.x1, nearest.box.y1, nearest.box.x2, nearest.box.y2)
            joined[joined.index(nearest)] = evolve(nearest, text=f"{number.text.strip()} {nearest.text}", box=box)
            joined.remove(number)
    return joined


def _is_beside(one: Box, other: Box, aspect: float) -> bool:
    """Whether `other` stands to the right of `one` in its row, at most six heights away; their boxes may overlap."""
    height = one.y2 - one.y1
    level = abs(one.y1 + one.y2 - other.y1 - other.y2) < height
    return level and other.x1 > (one.x1 + one.x2) / 2 and (other.x1 - one.x2) * aspect < 6 * height


def inks_of(grey: Image, lines: Sequence[OcrLine]) -> list[Ink | None]:
    """The ink of each of `lines` of the upright picture `grey`; None where it cannot be told from the ground."""
    widest = sorted(lines, key=lambda line: line.box.x1 - line.box.x2)[:_SAMPLE]
    slants = [slant for line in widest if (slant := _slant_of(grey, line)) is not None]
    slant = median(slants) if slants else 0.0
    return [_ink_of(grey, line, slant) for line in lines]


def _slant_of(grey: Image, line: OcrLine) -> float | None:
    """By how much a line falls along its length: then its rows of ink are the most unlike one another."""
    crop, _ = _cropped(grey, line)
    dark = _dark(crop)
    if dark is None or crop.width < 8 * crop.height:
        return None
    return max(_SLANTS, key=lambda slant: (sum(row * row for row in _rows(_straight(dark, slant))), -abs(slant)))


def _ink_of(grey: Image, line: OcrLine, slant: float) -> Ink | None:
    crop, above = _cropped(grey, line)
    dark = _dark(crop)
    if dark is None:
        return None
    dark = _straight(dark, slant)
    rows = _rows(dark)
    start, end = _run(rows, _GAP[_is_wide(line.text) and len(line.text) <= _FEW] * dark.height)
    base = _base(line.text, rows, start, end)
    if base - start < 3:
        return None
    size, top = _size(line.text, start, base, end)
    return Ink(size, _stroke(dark.crop((0, start, dark.width, end))), above + top, above + base)


def _cropped(grey: Image, line: OcrLine) -> tuple[Image, int]:
    """The box of a line, a little higher, and where its upper edge is."""
    width, height = grey.size
    top, bottom = line.box.y1 * height, line.box.y2 * height
    more = 0.1 * (bottom - top)
    edges = line.box.x1 * width, max(0.0, top - more), line.box.x2 * width, min(height, bottom + more)
    left, upper = math.floor(edges[0]), math.floor(edges[1])
    return grey.crop((left, upper, math.ceil(edges[2]), math.ceil(edges[3]))), upper


def _dark(crop: Image) -> Image | None:
    """The ink of `crop`, from 0 (the ground) to 255; None where there is none."""
    shades = crop.histogram()
    ground = max(range(256), key=lambda shade: (shades[shade], shade))
    dark, light = _shade(shades, 0.01), _shade(shades, 0.99)
    ink = dark if ground - dark >= light - ground else light
    span = abs(ground - ink)
    if span < _SPAN:
        return None
    ways = [(ground - shade) / (ground - ink) for shade in range(256)]
    return crop.point([round(255 * min(way, 1.0)) if way > _FAINT else 0 for way in ways])


def _shade(shades: Sequence[int], part: float) -> int:
    """The shade that `part` of the pixels do not exceed."""
    wanted, passed = part * sum(shades), 0
    for shade, count in enumerate(shades):
        passed += count
        if passed > wanted:
            return shade
    return 255


def _straight(dark: Image, slant: float) -> Image:
    """The line without its slant."""
    from PIL.Image import Resampling, Transform

    if abs(slant) * dark.width < 1:
        return dark
    matrix = (1, 0, 0, slant, 1, -slant * dark.width / 2)
    return dark.transform(dark.size, Transform.AFFINE, matrix, Resampling.BILINEAR)


def _rows(dark: Image) -> list[float]:
    """The ink of each row, in pixels, but of rules that run along a line."""
    from PIL.Image import Resampling

    means = array("f", dark.convert("F").resize((1, dark.height), Resampling.BOX).tobytes())
    return [mean * dark.width / 255 if mean < _RULE * 255 else 0.0 for mean in means]


def _run(rows: Sequence[float], gap: float) -> tuple[int, int]:
    """The rows of the line itself: those around the fullest one, without those of its neighbours more than `gap` away."""
    fullest = max(range(len(rows)), key=lambda row: rows[row])
    least = min(_ROW * rows[fullest], _PIXELS)
    start = end = fullest
    for row in range(fullest, -1, -1):
        if rows[row] > least and start - row <= gap + 1:
            start = row
    for row in range(fullest, len(rows)):
        if rows[row] > least and row - end <= gap + 1:
            end = row
    return start, end + 1


def _base(text: str, rows: Sequence[float], start: int, end: int) -> int:
    """The row below the line that letters stand on: the last full one, where any go below it."""
    low = sum(character in _LOW for character in text)
    if not low or _is_wide(text):
        return end
    if low >= _MANY * len(text.replace(" ", "")):
        return start + round((end - start) * CAPITAL / IDEOGRAPH)
    fullest = max(rows[start:end])
    return 1 + max(row for row in range(start, end) if rows[row] >= _BASE * fullest)


def _size(text: str, start: int, base: int, end: int) -> tuple[float, float]:
    """The size of the type, and where its capitals begin."""
    if _is_wide(text):
        return (end - start) / IDEOGRAPH, start
    if any(character in _TALL or character.isupper() for character in text):
        return (base - start) / CAPITAL, start
    size = (base - start) / SMALL
    return size, base - CAPITAL * size


def _is_wide(text: str) -> bool:
    """Whether most letters are Chinese or Japanese."""
    letters = [character for character in text if character.isalnum()]
    return sum(ord(letter) in _WIDE for letter in letters) * 2 > len(letters)


def _stroke(dark: Image) -> float:
    """How thick strokes are on average: the ink divided by half of the length of its edge."""
    from PIL import ImageChops

    across = ImageChops.difference(dark, ImageChops.offset(dark, 1, 0))
    down = ImageChops.difference(dark, ImageChops.offset(dark, 0, 1))
    edge = _sum(across) + _sum(down)
    return 2 * _sum(dark) / edge if edge else 0.0


def _sum(picture: Image) -> int:
    return sum(shade * count for shade, count in enumerate(picture.histogram()))
