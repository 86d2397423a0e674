"""The regions of a picture: parts that bands without detail separate.

A recursive X-Y cut (Nagy and Seth, 1984) over a small grey copy of the picture: the widest bands in which nothing
changes, right across or right down, separate the parts of a page, a screenshot, a chart. A photo has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from PIL.Image import Image

Rectangle = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels of the small copy, right and bottom exclusive."""

WORKING_SIZE = 400
"""Pixels of the longer side of the small copy."""

REGION_LIMIT = 40
"""Regions of one picture."""

LEVELS = 3
"""How deep regions lie in one another."""

PHOTO_ENTROPY = 6.5
"""Bits a pixel of grey from which a picture counts as a photo; drawn ones measure 1 to 6, photos 6.6 to 8."""

_LINE_HEIGHT = 24
_EDGE = 24
_SPECK, _RULE = (
    3,
    204,
)  # of 255: a row or column with that mean of detail is empty up to the one, a line from the other on
_CHILDREN = 12
_MIN_SIDE = 6
_MIN_GAP = (7, 5, 4)
_FILL = 0.97


@frozen
class Region:
    """A part of the picture, and the parts it is made of, in reading order."""

    box: Rectangle
    parts: tuple[Region, ...] = ()


def regions(grey: Image) -> tuple[Region, ...]:
    """The parts of a small grey picture; empty where nothing separates any, and for a photo, whose bands mean nothing."""
    if grey.entropy() > PHOTO_ENTROPY:
        return ()
    detail = _detail(grey)
    content = _shrunk(detail, (0, 0, *detail.size))
    if content is None:
        return ()
    budget = [REGION_LIMIT]
    parts = _split(detail, content, 0, budget)
    if parts:
        return parts
    share = _area(content) / (grey.width * grey.height)
    return (Region(content),) if share < _FILL and _large(content) else ()


def kind_of(grey: Image, box: Rectangle) -> str:
    """What a part seems to be: `picture` by its many shades, `text_region` by its low lines, else `region`."""
    part = grey.crop(box)
    if part.entropy() > PHOTO_ENTROPY:
        return "picture"
    _, rows = _filled(_detail(part), (0, 0, *part.size))
    heights = [sum(1 for _ in run) for holds, run in groupby(rows) if holds]
    flat = max(part.histogram()) / (part.width * part.height)
    lines = bool(heights) and max(heights) <= _LINE_HEIGHT and part.width >= 2 * max(heights)
    return "text_region" if lines and flat > 0.2 else "region"


def _detail(grey: Image) -> Image:
    """White where a pixel differs clearly from one beside it, else black; the outermost pixels are black."""
    from PIL import ImageChops

    across = ImageChops.difference(grey, ImageChops.offset(grey, 1, 0))
    down = ImageChops.difference(grey, ImageChops.offset(grey, 0, 1))
    detail = ImageChops.lighter(across, down).point([255 if value > _EDGE else 0 for value in range(256)])
    detail.paste(0, (0, 0, grey.width, 1))
    detail.paste(0, (0, 0, 1, grey.height))
    return detail


def _split(detail: Image, box: Rectangle, level: int, budget: list[int]) -> tuple[Region, ...]:
    if level == LEVELS:
        return ()
    parts = [part for part in _cut(detail, box, _MIN_GAP[level]) if _large(part)]
    if len(parts) < 2 or len(parts) > budget[0]:
        return ()
    budget[0] -= len(parts)
    below: dict[Rectangle, tuple[Region, ...]] = {
        part: _split(detail, part, level + 1, budget) for part in sorted(parts, key=_area, reverse=True)
    }
    return tuple(Region(part, below[part]) for part in parts)


def _cut(detail: Image, box: Rectangle, gap: int) -> list[Rectangle]:
    """`box` cut along the direction with the wider bands, each piece shrunk to what is in it."""
    left, top, right, bottom = box
    columns, rows = _filled(detail, box)
    across, down = _bands(rows, gap), _bands(columns, gap)
    if _widest(across) >= _widest(down):
        pieces = [(left, top + start, right, top + end) for start, end in _runs(len(rows), across)]
    else:
        pieces = [(left + start, top, left + end, bottom) for start, end in _runs(len(columns), down)]
    return [shrunk for piece in pieces if (shrunk := _shrunk(detail, piece)) is not None]


def _filled(detail: Image, box: Rectangle) -> tuple[list[bool], list[bool]]:
    """For every column and every row of `box`, whether it holds something: more than specks and less than a ruled line."""
    from PIL.Image import Resampling

    part = detail.crop(box)
    across = part.resize((part.width, 1), Resampling.BOX).tobytes()
    down = part.resize((1, part.height), Resampling.BOX).tobytes()
    return [_SPECK < mean < _RULE for mean in across], [_SPECK < mean < _RULE for mean in down]


def _bands(filled: list[bool], gap: int) -> list[tuple[int, int]]:
    """The inner runs of at least `gap` pixels that hold nothing; where they are many, the widest."""
    found = []
    position = 0
    for holds, run in groupby(filled):
        length = sum(1 for _ in run)
        if not holds and length >= gap and position and position + length < len(filled):
            found.append((position, position + length))
        position += length
    widest = sorted(found, key=lambda band: (band[0] - band[1], band[0]))[: _CHILDREN - 1]
    return sorted(widest)


def _widest(bands: list[tuple[int, int]]) -> int:
    return max((end - start for start, end in bands), default=0)


def _runs(length: int, bands: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What lies between the bands."""
    edges = [0, *(edge for band in bands for edge in band), length]
    yield from list(pairwise(edges))[::2]


def _shrunk(detail: Image, box: Rectangle) -> Rectangle | None:
    """`box` without the empty margins and the frame around what is in it; None where it is empty."""
    columns, rows = _filled(detail, box)
    if True not in columns or True not in rows:
        return None
    left, right = columns.index(True), len(columns) - columns[::-1].index(True)
    top, bottom = rows.index(True), len(rows) - rows[::-1].index(True)
    return box[0] + left, box[1] + top, box[0] + right, box[1] + bottom


def _area(box: Rectangle) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _large(box: Rectangle) -> bool:
    return box[2] - box[0] >= _MIN_SIDE and box[3] - box[1] >= _MIN_SIDE
