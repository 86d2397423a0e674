"""Where a grey picture changes: the pixels of letters, drawings and photographs, without rules, frames and specks."""

from __future__ import annotations

from array import array
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

Rectangle = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels of the small copy, right and bottom exclusive."""

_MIN_EDGE = 24
_NOISE_FACTOR = 3
_RULE_SHARE, _MIN_RULE_LENGTH, _MAX_RULE_THICKNESS = 24, 8, 3
_MIN_PIXELS = 1.5
_MIN_HATCHING = 45
_SHADE_SHARE, _MAX_CLEAN_NOISE = 60, 1


def detail_mask(grey: Image) -> Image:
    """255 where a pixel differs clearly from one beside it, else 0. Mode `F`, so that means of rows and columns are exact.

    How much is clear follows from the picture: three times what half of its pixels differ by, so that the grain of a scan
    is no detail.
    """
    from PIL import ImageChops

    change = pixel_changes(grey)
    noise = median_value(change)
    mask = threshold(change, max(_MIN_EDGE, _NOISE_FACTOR * noise))
    mask = _without_specks(ImageChops.subtract(mask, _rules(mask)))
    return ImageChops.lighter(mask, _shaded_areas(grey, change, noise)).convert("F")


def _shaded_areas(grey: Image, change: Image, noise: int) -> Image:
    """Areas of shades, as the sky of a photograph, that have no edges: at least a few lines high and wide.

    On a clean ground they are known by changing all over; on a grainy one by being of another shade than the ground.
    """
    from PIL import ImageChops, ImageFilter

    size = max(4, max(grey.size) // _SHADE_SHARE)
    if noise <= _MAX_CLEAN_NOISE:
        dense = threshold(threshold(change, 1).filter(ImageFilter.BoxBlur(4)), 140)
    else:
        ground = grey.filter(ImageFilter.BoxBlur(1)).histogram()
        shade = grey.point([ground.index(max(ground))] * 256)
        dense = threshold(ImageChops.difference(grey.filter(ImageFilter.BoxBlur(3)), shade), _MIN_EDGE + noise)
    return _opening(_opening(dense, (size, 0)), (0, size))


def pixel_changes(grey: Image) -> Image:
    """By how much each pixel differs from the one to its left or the one above; 0 along the left and the upper edge."""
    from PIL import ImageChops

    across = ImageChops.difference(grey, ImageChops.offset(grey, 1, 0))
    down = ImageChops.difference(grey, ImageChops.offset(grey, 0, 1))
    change: Image = ImageChops.lighter(across, down)
    change.paste(0, (0, 0, grey.width, 1))
    change.paste(0, (0, 0, 1, grey.height))
    return change


def threshold(picture: Image, limit: int) -> Image:
    """255 where a value is above the limit, else 0."""
    return picture.point([255 if value > limit else 0 for value in range(256)])


def median_value(picture: Image) -> int:
    """The value that half of the pixels do not exceed."""
    counts, passed = picture.histogram(), 0
    half = (picture.width * picture.height + 1) // 2
    for value, count in enumerate(counts):
        passed += count
        if passed >= half:
            return value
    return 255


def _rules(mask: Image) -> Image:
    """Long thin runs that stand alone: the rules between columns and rows, the frames of windows, tables and pictures.

    Many side by side are hatching, which is a picture's.
    """
    from PIL import ImageChops, ImageFilter

    reach = max(_MIN_RULE_LENGTH, max(mask.size) // _RULE_SHARE)
    found = []
    for along, across in (((reach, 0), (0, _MAX_RULE_THICKNESS)), ((0, reach), (_MAX_RULE_THICKNESS, 0))):
        long = _opening(mask, along)
        thin = ImageChops.subtract(long, _opening(long, across))
        side = ImageFilter.BoxBlur((4 * across[0], 4 * across[1]))
        hatched = threshold(threshold(thin.filter(side), _MIN_HATCHING).filter(side), 0)
        found.append(ImageChops.subtract(thin, hatched))
    both: Image = ImageChops.lighter(*found)
    return both


def _opening(mask: Image, radius: tuple[int, int]) -> Image:
    """What is left of the runs at least `2 * radius + 1` long (an opening, as morphology says)."""
    from PIL import ImageFilter

    blur = ImageFilter.BoxBlur(radius)
    core = threshold(mask.filter(blur), 251)
    return threshold(core.filter(blur), 0)


def _without_specks(mask: Image) -> Image:
    """Pixels with fewer than two of their eight neighbours are specks."""
    from PIL import ImageChops, ImageFilter

    crowded = threshold(mask.filter(ImageFilter.BoxBlur(1)), 79)
    kept: Image = ImageChops.darker(mask, crowded)
    return kept


def profiles(mask: Image, box: Rectangle) -> tuple[list[bool], list[bool]]:
    """For every column and every row of `box`, whether it holds something."""
    from PIL.Image import Resampling

    part = mask.crop(box)
    columns = array("f", part.resize((part.width, 1), Resampling.BOX).tobytes())
    rows = array("f", part.resize((1, part.height), Resampling.BOX).tobytes())
    tall, wide = _MIN_PIXELS * 255 / part.height, _MIN_PIXELS * 255 / part.width
    return [mean > tall for mean in columns], [mean > wide for mean in rows]


def trim(mask: Image, box: Rectangle) -> Rectangle | None:
    """`box` without its empty margins; None where it is empty."""
    columns, rows = profiles(mask, box)
    if True not in columns or True not in rows:
        return None
    left, right = columns.index(True), len(columns) - columns[::-1].index(True)
    top, bottom = rows.index(True), len(rows) - rows[::-1].index(True)
    return box[0] + left, box[1] + top, box[0] + right, box[1] + bottom


def runs(filled: list[bool], join: int) -> list[tuple[int, int]]:
    """The runs (start, end) that hold something; those less than `join` apart are one (the dot of an i, an accent)."""
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
