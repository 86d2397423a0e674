"""Classifies regions of an image as text or picture, and detects photographs."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from citekit.adapters.formats.image.detail import Rectangle, pixel_changes, profiles, runs

if TYPE_CHECKING:
    from PIL.Image import Image

TEXT, PICTURE = "text_region", "picture"

PHOTO_ENTROPY = 6.4
"""The minimum entropy of a photograph, in bits per gray pixel. Drawings measure 1 to 6, photographs 6.6 to 8."""

_MAX_UNCHANGED = 0.35
"""The highest share of pixels in a photograph that equal their neighbors: 0.02 to 0.26 was measured in photographs, and
0.4 to 1 in screenshots.
"""

_MAX_LINE_SHARE = 0.12
_MIN_INK, _MAX_INK = 0.03, 0.75
_MIN_BACKGROUND = 0.3


def is_photo(gray: Image) -> bool:
    """Return whether an image is a photograph: it has grain everywhere and no dominant shade.

    Empty bands in a photograph do not separate regions.
    """
    if gray.entropy() <= PHOTO_ENTROPY:
        return False
    unchanged = pixel_changes(gray).histogram()[0] / (gray.width * gray.height)
    return unchanged < _MAX_UNCHANGED


def classify_region(gray: Image, mask: Image, box: Rectangle, noise: int) -> str:
    """Return `text_region` if `box` contains lines of text on an even background, otherwise `picture`.

    `mask` is the detail in `gray`, and `noise` the grain of the whole image.
    """
    part = gray.crop(box)
    heights = line_heights(mask, box)
    ink = _ink_share(mask, box)
    even = _background_share(part, noise) >= _MIN_BACKGROUND
    low = bool(heights) and max(heights) <= _MAX_LINE_SHARE * max(gray.size) and part.width >= 0.8 * max(heights)
    return TEXT if even and low and _MIN_INK <= ink <= _MAX_INK else PICTURE


def line_heights(mask: Image, box: Rectangle) -> list[int]:
    """Return the heights, in pixels, of the runs of rows in `box` that contain detail."""
    _, rows = profiles(mask, box)
    return [end - start for start, end in runs(rows, 2)]


def typical_line_height(heights: list[int]) -> float:
    """Return the median of the line heights, or 0 if there are no lines.

    Low lines, which may contain only periods or be incomplete, are ignored.
    """
    tall = [each for each in heights if each >= 0.5 * max(heights)]
    return float(median(tall)) if tall else 0.0


def _ink_share(mask: Image, box: Rectangle) -> float:
    from PIL.Image import Resampling

    value = mask.crop(box).resize((1, 1), Resampling.BOX).getpixel((0, 0))
    return float(value) / 255 if isinstance(value, int | float) else 0.0


def _background_share(part: Image, noise: int) -> float:
    """Return the share (0 to 1) of pixels whose shade is close to the most common shade."""
    tolerance = 6 + 2 * noise
    counts = part.histogram()
    peak = max(range(256), key=lambda value: (counts[value], -value))
    return sum(counts[max(0, peak - tolerance) : peak + tolerance + 1]) / (part.width * part.height)
