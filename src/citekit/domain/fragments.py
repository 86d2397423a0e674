"""Parses the values in a fragment: page lists, ranges, clock times, and boxes. It accepts common variants.

The first argument of each function is the complete address or fragment, which appears in error messages. Each function
raises `AddressMalformed` for a value that it cannot parse.
"""

from __future__ import annotations

import re
from decimal import Decimal

from citekit.domain.errors import AddressMalformed, LocationMalformed
from citekit.domain.locations import Box
from citekit.domain.locations.pages import PAGES_LIMIT
from citekit.domain.numbers import read_decimal, read_whole
from citekit.domain.rectangles import box_from_xywh, four_numbers

_CLOCK = re.compile(r"(?:(\d{1,12}):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)", re.ASCII)


def page_list(text: str, value: str) -> list[int]:
    """Parse `3,5-7` as [3, 5, 6, 7]. Ranges include both ends."""
    pages: list[int] = []
    for run in value.split(","):
        if not run:
            raise AddressMalformed(text, value, "a page number is missing next to a comma")
        first, last = whole_range(text, run)
        if last < first:
            raise AddressMalformed(text, run, "the page range is reversed")
        if last - first + len(pages) >= PAGES_LIMIT:
            raise AddressMalformed(text, run, f"an address can name at most {PAGES_LIMIT} pages")
        pages.extend(range(first, last + 1))
    return pages


def whole_range(text: str, value: str) -> tuple[int, int]:
    """Parse `10-50` as (10, 50), and `10` as (10, 10)."""
    start, dash, end = value.partition("-")
    first, last = read_whole(start), read_whole(end if dash else start)
    if first is None or last is None:
        raise AddressMalformed(text, value, "the value must be a whole number, or a range such as 10-50")
    return first, last


def sheet_name(text: str, value: str) -> str:
    """Parse the name of a sheet. Quotes, as in formulas, are removed, and doubled quotes in it become single:
    `'Bob''s'` is `Bob's`.
    """
    if _in_quotes(value):
        value = value[1:-1].replace("''", "'")
    if not value:
        raise AddressMalformed(text, text, "the sheet name is missing")
    return value


def quoted_sheet(name: str) -> str:
    """Return the text that `sheet_name` parses as `name`: the name itself, unless it begins and ends with quotes."""
    return "'" + name.replace("'", "''") + "'" if _in_quotes(name) else name


def _in_quotes(value: str) -> bool:
    return len(value) > 1 and value.startswith("'") and value.endswith("'")


def time_range(text: str, value: str) -> tuple[float, float | None]:
    """Return (start, end) in seconds of `145.5-200`, `2:25.5,3:20`, `,20` (from 0), or `10` (to the end, None)."""
    bare = value.removeprefix("npt:")
    separator = "," if "," in bare else "-"
    start, between, end = bare.partition(separator)
    if not start and between == "," and end:
        return 0.0, clock(text, end)
    if not between:
        return clock(text, start), None
    if not start or not end:
        raise AddressMalformed(text, value, "a time is missing; write start-end, only the start, or ,end")
    return clock(text, start), clock(text, end)


def clock(text: str, value: str) -> float:
    """Return the seconds of `200`, `200.5`, `3:20`, `03:20.5`, or `1:03:20`."""
    seconds = read_decimal(value)
    if seconds is not None:
        return seconds
    parts = _CLOCK.fullmatch(value)
    if not parts:
        raise AddressMalformed(text, value, "a time must be written like 145.5, 2:25.5, or 1:02:25")
    hours, minutes, rest = parts.groups()
    if float(rest) >= 60 or (hours is not None and int(minutes) >= 60):
        raise AddressMalformed(text, value, "minutes and seconds must be below 60")
    return float(Decimal(hours or 0) * 3600 + Decimal(minutes) * 60 + Decimal(rest))


def box_value(text: str, value: str) -> Box:
    """Parse a box: `x1,y1,x2,y2` (fractions), or `xywh=percent:x,y,w,h` (Media Fragments, including its name).

    Without a unit, `xywh` counts pixels (Media Fragments 1.0, 4.2.2), which are whole numbers. Numbers with a decimal
    point are read as fractions. Numbers without one are refused, because the size of the picture is not known here.
    """
    if not value.startswith("xywh="):
        return _box(text, value, *four_numbers(text, value))
    body = value.removeprefix("xywh=")
    unit, colon, rest = body.partition(":")
    numbers = rest if colon else body
    if unit == "pixel" or (not colon and "." not in body):
        raise AddressMalformed(
            text, value, "pixels are not supported here; use fractions from 0 to 1, or xywh=percent:x,y,w,h"
        )
    if colon and unit != "percent":
        raise AddressMalformed(text, unit, "the unit of xywh must be percent")
    whole = Decimal(100) if colon else Decimal(1)
    return box_from_xywh(text, numbers, whole, whole)


def _box(text: str, value: str, x1: float, y1: float, x2: float, y2: float) -> Box:
    try:
        return Box(x1, y1, x2, y2)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, value, wrong.reason) from wrong
