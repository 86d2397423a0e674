"""Converts times and regions to and from W3C Media Fragments URI 1.0.

Times of video and audio have the form `#t=145,200`, and regions of images have the form `#xywh=percent:...`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from citekit.domain.errors import AddressMalformed, FormUnsupported, LocationMalformed
from citekit.domain.exchange.uri_fragment import bare, pairs
from citekit.domain.fragments import time_range
from citekit.domain.locations import Box, Location, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.numbers import shortest
from citekit.domain.rectangles import box_from_xywh, xywh

_HUNDRED = Decimal(100)


def to_media_fragment(location: Location) -> str:
    """Return `#t=start,end` in seconds, `#t=start` for a time range without an end, or `#xywh=percent:x,y,w,h` for a
    box.

    Raise `FormUnsupported` for other locations.
    """
    match location:
        case TimeSpan(start=start, end=None):
            return f"#t={shortest(start)}"
        case TimeSpan(start=start, end=float(end)):
            return f"#t={shortest(start)},{shortest(end)}"
        case Box():
            return f"#xywh=percent:{xywh(location, _HUNDRED, _HUNDRED)}"
    raise FormUnsupported(
        "Media Fragments support only times in video and audio, and regions of images, not "
        f"{location.modality.value} locations."
    )


def from_media_fragment(text: str, modality: Modality, dimensions: tuple[int, int] | None = None) -> TimeSpan | Box:
    """Parse a fragment, or a URI with a fragment, as a time range (VIDEO and AUDIO) or as a region (IMAGE).

    `dimensions` is the (width, height) of the image in pixels, required for `xywh` in pixels, the default unit. If `t`
    or `xywh` occurs several times, the last valid value is used. Other parameters are ignored (section 5.1.1). A region
    that extends beyond the image is cropped (section 5.1.2). Raise `AddressMalformed` if the fragment is not valid, if
    `modality` is another one, if `dimensions` is required and None, or if the region is completely outside the image.
    """
    if modality in (Modality.VIDEO, Modality.AUDIO):
        return _last(text, "t", lambda value: _time(text, value, modality))
    if modality is Modality.IMAGE:
        return _last(text, "xywh", lambda value: _region(text, value, dimensions))
    raise AddressMalformed(text, text, f"Media Fragments do not support {modality.value} resources")


def _last(text: str, name: str, read: Callable[[str], TimeSpan | Box]) -> TimeSpan | Box:
    first_error: AddressMalformed | None = None
    for found, value, _ in reversed(list(pairs(bare(text)))):
        if found != name:
            continue
        try:
            return read(value)
        except AddressMalformed as wrong:
            first_error = first_error or wrong
    raise first_error or AddressMalformed(text, bare(text) or text, f"the fragment must have the parameter {name}")


def _time(text: str, value: str, modality: Modality) -> TimeSpan:
    unit, colon, _ = value.partition(":")
    if colon and unit != "npt" and not unit.isdigit():
        raise AddressMalformed(text, value, "times must be in normal play time (npt), such as t=10,20")
    if "-" in value:
        raise AddressMalformed(
            text, value, "a time must not contain a hyphen; separate the start and the end with a comma"
        )
    start, end = time_range(text, value)
    try:
        return TimeSpan(start, end, modality)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, value, wrong.reason) from wrong


def _region(text: str, value: str, dimensions: tuple[int, int] | None) -> Box:
    unit, colon, numbers = value.rpartition(":")
    if colon and unit not in ("percent", "pixel"):
        raise AddressMalformed(text, value, "the unit of xywh must be percent or pixel")
    if unit == "percent":
        return box_from_xywh(text, numbers, _HUNDRED, _HUNDRED, crop=True)
    if dimensions is None:
        raise AddressMalformed(
            text, value, "the width and height of the image are required to convert pixels; use percent:x,y,w,h instead"
        )
    return box_from_xywh(text, numbers, Decimal(dimensions[0]), Decimal(dimensions[1]), crop=True)
