"""What a part of a picture is: lines of text, or a picture. And whether the whole is a photograph."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from citekit.adapters.formats.image.detail import Rectangle, pixel_changes, profiles, runs

if TYPE_CHECKING:
    from PIL.Image import Image

TEXT, PICTURE = "text_region", "picture"

PHOTO_ENTROPY = 6.4
"""Bits a pixel of grey from which a picture may be a photograph; drawn ones measure 1 to 6, photographs 6.6 to 8."""

_MAX_UNCHANGED = 0.35
"""Share of pixels that are exactly as those beside them: a photograph has less (0.02 to 0.26), a screen more (0.4 to 1)."""

_MAX_LINE_SHARE = 0.12
_MIN_INK, _MAX_INK = 0.03, 0.75
_MIN_BACKGROUND = 0.3


def is_photo(grey: Image) -> bool:
    """Whether grain is everywhere and no shade prevails: then empty bands mean nothing."""
    if grey.entropy() <= PHOTO_ENTROPY:
        return False
    still = pixel_changes(grey).histogram()[0] / (grey.width * grey.height)
    return still < _MAX_UNCHANGED


def classify_region(grey: Image, mask: Image, box: Rectangle, noise: int) -> str:
    """`text_region` for low lines of ink on an even ground, else `picture`; `noise` is the grain of the whole."""
    part = grey.crop(box)
    heights = line_heights(mask, box)
    ink = _ink_share(mask, box)
    even = _background_share(part, noise) >= _MIN_BACKGROUND
    low = bool(heights) and max(heights) <= _MAX_LINE_SHARE * max(grey.size) and part.width >= 0.8 * max(heights)
    return TEXT if even and low and _MIN_INK <= ink <= _MAX_INK else PICTURE


def line_heights(mask: Image, box: Rectangle) -> list[int]:
    """Heights of the runs of rows that hold something."""
    _, rows = profiles(mask, box)
    return [end - start for start, end in runs(rows, 2)]


def typical_line_height(heights: list[int]) -> float:
    """The usual one of them; rows of full stops and half lines are left out."""
    tall = [each for each in heights if each >= 0.5 * max(heights)]
    return float(median(tall)) if tall else 0.0


def _ink_share(mask: Image, box: Rectangle) -> float:
    from PIL.Image import Resampling

    value = mask.crop(box).resize((1, 1), Resampling.BOX).getpixel((0, 0))
    return float(value) / 255 if isinstance(value, int | float) else 0.0


def _background_share(part: Image, noise: int) -> float:
    """The share of the pixels whose shade is about the most common one."""
    reach = 6 + 2 * noise
    counts = part.histogram()
    peak = max(range(256), key=lambda value: (counts[value], -value))
    return sum(counts[max(0, peak - reach) : peak + reach + 1]) / (part.width * part.height)
