"""Finds the detail in a grayscale image: text, drawings, and photographs.

Ruling lines, frames, and specks are not detail.
"""

from __future__ import annotations

from array import array
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

Rectangle = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels of the reduced copy of an image; right and bottom are exclusive."""

_MIN_EDGE = 24
_NOISE_FACTOR = 3
_RULE_SHARE, _MIN_RULE_LENGTH, _MAX_RULE_THICKNESS = 24, 8, 3
_MIN_PIXELS = 1.5
_MIN_HATCHING = 45
_SHADE_SHARE, _MAX_CLEAN_NOISE = 60, 1


def detail_mask(gray: Image) -> Image:
    """Return a mask of the detail in a grayscale image: 255 for detail, and otherwise 0.

    A pixel is detail if it is in a shaded area, or differs from its left or upper neighbor by clearly more than the
    grain of a scan and is not part of a rule or a speck. With the mode `F` of the result, means of rows and columns are
    exact.
    """
    from PIL import ImageChops

    change = pixel_changes(gray)
    noise = median_value(change)
    mask = threshold(change, max(_MIN_EDGE, _NOISE_FACTOR * noise))
    mask = _without_specks(ImageChops.subtract(mask, _rules(mask)))
    return ImageChops.lighter(mask, _shaded_areas(gray, change, noise)).convert("F")


def _shaded_areas(gray: Image, change: Image, noise: int) -> Image:
    """Return a mask of large shaded areas without edges, such as a sky."""
    from PIL import ImageChops, ImageFilter

    size = max(4, max(gray.size) // _SHADE_SHARE)
    if noise <= _MAX_CLEAN_NOISE:
        dense = threshold(threshold(change, 1).filter(ImageFilter.BoxBlur(4)), 140)
    else:
        ground = gray.filter(ImageFilter.BoxBlur(1)).histogram()
        shade = gray.point([ground.index(max(ground))] * 256)
        dense = threshold(ImageChops.difference(gray.filter(ImageFilter.BoxBlur(3)), shade), _MIN_EDGE + noise)
    return _opening(_opening(dense, (size, 0)), (0, size))


def pixel_changes(gray: Image) -> Image:
    """Return an image of how much each pixel differs from its left or upper neighbor, whichever differs more.

    The pixels of the first row and the first column are 0.
    """
    from PIL import ImageChops

    across = ImageChops.difference(gray, ImageChops.offset(gray, 1, 0))
    down = ImageChops.difference(gray, ImageChops.offset(gray, 0, 1))
    change: Image = ImageChops.lighter(across, down)
    change.paste(0, (0, 0, gray.width, 1))
    change.paste(0, (0, 0, 1, gray.height))
    return change


def threshold(picture: Image, limit: int) -> Image:
    """Return an image that is 255 where the value of a pixel is above `limit`, and otherwise 0."""
    return picture.point([255 if value > limit else 0 for value in range(256)])


def median_value(picture: Image) -> int:
    """Return the median: the smallest value that at least half of the pixels do not exceed."""
    counts, cumulative = picture.histogram(), 0
    half = (picture.width * picture.height + 1) // 2
    for value, count in enumerate(counts):
        cumulative += count
        if cumulative >= half:
            return value
    return 255


def _rules(mask: Image) -> Image:
    """Return a mask of isolated, long, thin lines: rules and frames, but not the hatching of drawings."""
    from PIL import ImageChops, ImageFilter

    radius = max(_MIN_RULE_LENGTH, max(mask.size) // _RULE_SHARE)
    directions = []
    for along, across in (((radius, 0), (0, _MAX_RULE_THICKNESS)), ((0, radius), (_MAX_RULE_THICKNESS, 0))):
        long = _opening(mask, along)
        thin = ImageChops.subtract(long, _opening(long, across))
        side = ImageFilter.BoxBlur((4 * across[0], 4 * across[1]))
        hatched = threshold(threshold(thin.filter(side), _MIN_HATCHING).filter(side), 0)
        directions.append(ImageChops.subtract(thin, hatched))
    rules: Image = ImageChops.lighter(*directions)
    return rules


def _opening(mask: Image, radius: tuple[int, int]) -> Image:
    """Return the morphological opening of `mask`: only areas that are large enough in both directions remain.

    If `radius` is (x, y), they are at least 2 * x + 1 pixels wide and 2 * y + 1 pixels high.
    """
    from PIL import ImageFilter

    blur = ImageFilter.BoxBlur(radius)
    core = threshold(mask.filter(blur), 251)
    return threshold(core.filter(blur), 0)


def _without_specks(mask: Image) -> Image:
    """Return the mask without pixels that have fewer than two of their eight neighbors set."""
    from PIL import ImageChops, ImageFilter

    crowded = threshold(mask.filter(ImageFilter.BoxBlur(1)), 79)
    cleaned: Image = ImageChops.darker(mask, crowded)
    return cleaned


def profiles(mask: Image, box: Rectangle) -> tuple[list[bool], list[bool]]:
    """Return whether each column, and whether each row, of `box` contains at least two pixels of detail."""
    from PIL.Image import Resampling

    part = mask.crop(box)
    columns = array("f", part.resize((part.width, 1), Resampling.BOX).tobytes())
    rows = array("f", part.resize((1, part.height), Resampling.BOX).tobytes())
    tall, wide = _MIN_PIXELS * 255 / part.height, _MIN_PIXELS * 255 / part.width
    return [mean > tall for mean in columns], [mean > wide for mean in rows]


def trim(mask: Image, box: Rectangle) -> Rectangle | None:
    """Return `box` without its empty margins, or None if it contains no detail."""
    columns, rows = profiles(mask, box)
    if True not in columns or True not in rows:
        return None
    left, right = columns.index(True), len(columns) - columns[::-1].index(True)
    top, bottom = rows.index(True), len(rows) - rows[::-1].index(True)
    return box[0] + left, box[1] + top, box[0] + right, box[1] + bottom


def runs(filled: list[bool], join: int) -> list[tuple[int, int]]:
    """Return the start and end (exclusive) of each run of True values.

    Runs less than `join` apart are merged, so that the dot of an i stays with its letter.
    """
    found: list[tuple[int, int]] = []
    position = 0
    for holds, run in groupby(filled):
        end = position + sum(1 for _ in run)
        if holds and found and position - found[-1][1] < join:
            found[-1] = (found[-1][0], end)
        elif holds:
            found.append((position, end))
        position = end
    return found
