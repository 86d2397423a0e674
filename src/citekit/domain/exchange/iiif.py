"""Converts boxes to and from the region of an image request in the IIIF Image API 3.0.

A request ends in `region/size/rotation/quality.format`, for example `pct:x,y,w,h/max/0/default.jpg`.
"""

from __future__ import annotations

import re
from decimal import Decimal

from citekit.domain.errors import AddressMalformed, FormUnsupported
from citekit.domain.locations import Box, Location
from citekit.domain.rectangles import box_from_edges, box_from_xywh, xywh

_HUNDRED = Decimal(100)
_WHOLE = Box(0, 0, 1, 1)
_SIZE = re.compile(r"\^?(?:max|\d+,\d*|,\d+|pct:\d+(?:\.\d+)?|!\d+,\d+)", re.ASCII)
_ROTATION = re.compile(r"!?(\d+(?:\.\d+)?)", re.ASCII)
_QUALITY = re.compile(r"(?:color|gray|bitonal|default)\.(?:jpg|tif|png|gif|jp2|pdf|webp)", re.ASCII)
_PIXELS = re.compile(r"\d+,\d+,\d+,\d+", re.ASCII)


def to_iiif(location: Location) -> str:
    """Return the end of an image request, `region/max/0/default.jpg`, for the box at full size.

    The region of the whole image is `full` (section 4.7). Raise `FormUnsupported` if the location is not a box.
    """
    if not isinstance(location, Box):
        raise FormUnsupported(f"IIIF supports only regions of images, not {location.modality.value} locations.")
    region = "full" if location == _WHOLE else f"pct:{xywh(location, _HUNDRED, _HUNDRED)}"
    return f"{region}/max/0/default.jpg"


def from_iiif(text: str, dimensions: tuple[int, int] | None = None) -> Box:
    """Parse the region of an image request: `region/size/rotation/quality.format`, a complete URI, or only the region.

    `dimensions` is the (width, height) of the image in pixels, required for `x,y,w,h` and for the centered `square`.
    The other parts are checked but ignored. A region that extends beyond the image is cropped (section 4.1). Raise
    `AddressMalformed` if the text is not valid, if `dimensions` is required and None, or if the region is completely
    outside the image.
    """
    parts = text.partition("?")[0].rstrip("/").split("/")
    if len(parts) >= 4:
        _check_rest(text, *parts[-3:])
        return _region(text, parts[-4].replace("%3A", ":").replace("%3a", ":").replace("%2C", ","), dimensions)
    if len(parts) != 1:
        raise AddressMalformed(
            text, text, "an IIIF image request must have the form region/size/rotation/quality.format"
        )
    return _region(text, text, dimensions)


def _region(text: str, region: str, dimensions: tuple[int, int] | None) -> Box:
    if region == "full":
        return _WHOLE
    if region.startswith("pct:"):
        return box_from_xywh(text, region.removeprefix("pct:"), _HUNDRED, _HUNDRED, crop=True)
    if region != "square" and not _PIXELS.fullmatch(region):
        raise AddressMalformed(
            text, region, "the region must be full, square, x,y,w,h in pixels, or pct:x,y,w,h in percent"
        )
    if dimensions is None:
        raise AddressMalformed(
            text,
            region,
            "the width and height of the image are required to convert this region; use pct:x,y,w,h instead",
        )
    width, height = (Decimal(length) for length in dimensions)
    if region != "square":
        return box_from_xywh(text, region, width, height, crop=True)
    side = min(width, height)
    left, top = (width - side) / 2, (height - side) / 2
    return box_from_edges(text, region, (left, top, left + side, top + side), width, height, crop=True)


def _check_rest(text: str, size: str, rotation: str, quality: str) -> None:
    if not _SIZE.fullmatch(size.replace("%5E", "^").replace("%3A", ":").replace("%2C", ",")):
        raise AddressMalformed(
            text, size, "the size must be one that the IIIF Image API defines, such as max, pct:50, or 400,300"
        )
    turned = _ROTATION.fullmatch(rotation)
    if not turned or float(turned[1]) > 360:
        raise AddressMalformed(
            text,
            rotation,
            "the rotation must be a number from 0 to 360, with an optional ! before it to mirror the image",
        )
    if not _QUALITY.fullmatch(quality):
        raise AddressMalformed(
            text, quality, "the request must end with a quality and a format of the IIIF Image API, such as default.jpg"
        )
