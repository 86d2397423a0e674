"""The values inside a fragment: page lists, ranges, clock times and boxes, read leniently.

Each function takes the whole address (or foreign fragment) first, only to show it in the error. All raise
`AddressMalformed` for a text they cannot read.
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
    """`3,5-7` as [3, 5, 6, 7]; runs include both ends."""
    pages: list[int] = []
    for run in value.split(","):
        if not run:
            raise AddressMalformed(text, value, "a page is missing beside a comma")
        first, last = whole_range(text, run)
        if last < first:
            raise AddressMalformed(text, run, "the page range is reversed")
        if last - first + len(pages) >= PAGES_LIMIT:
            raise AddressMalformed(text, run, f"an address names at most {PAGES_LIMIT} pages")
        pages.extend(range(first, last + 1))
    return pages


def whole_range(text: str, value: str) -> tuple[int, int]:
    """`10-50` as (10, 50), and `10` as (10, 10)."""
    start, dash, end = value.partition("-")
    first, last = read_whole(start), read_whole(end if dash else start)
    if first is None or last is None:
        raise AddressMalformed(text, value, "it is not a whole number or a range such as 10-50")
    return first, last


def sheet_name(text: str, value: str) -> str:
    """The name of a sheet, which formulas put into quotes, a quote in it doubled: `'Bob''s'` is `Bob's`."""
    if _in_quotes(value):
        value = value[1:-1].replace("''", "'")
    if not value:
        raise AddressMalformed(text, text, "the name of the sheet is missing")
    return value


def quoted_sheet(name: str) -> str:
    """What `sheet_name` reads as `name`: the name itself, unless it has quotes of its own (which Excel refuses)."""
    return "'" + name.replace("'", "''") + "'" if _in_quotes(name) else name


def _in_quotes(value: str) -> bool:
    return len(value) > 1 and value.startswith("'") and value.endswith("'")


def time_range(text: str, value: str) -> tuple[float, float | None]:
    """(start, end) in seconds of `145.5-200`, `2:25.5,3:20`, `,20` (from 0) or `10` (to the end, None)."""
    bare = value.removeprefix("npt:")
    separator = "," if "," in bare else "-"
    start, between, end = bare.partition(separator)
    if not start and between == "," and end:
        return 0.0, clock(text, end)
    if not between:
        return clock(text, start), None
    if not start or not end:
        raise AddressMalformed(text, value, "a time is missing: write start-end, start alone, or ,end")
    return clock(text, start), clock(text, end)


def clock(text: str, value: str) -> float:
    """Seconds of `200`, `200.5`, `3:20`, `03:20.5` or `1:03:20`."""
    seconds = read_decimal(value)
    if seconds is not None:
        return seconds
    parts = _CLOCK.fullmatch(value)
    if not parts:
        raise AddressMalformed(text, value, "it is not a time such as 145.5, 2:25.5 or 1:02:25")
    hours, minutes, rest = parts.groups()
    if float(rest) >= 60 or (hours is not None and int(minutes) >= 60):
        raise AddressMalformed(text, value, "minutes and seconds stop at 59")
    return float(Decimal(hours or 0) * 3600 + Decimal(minutes) * 60 + Decimal(rest))


def box_value(text: str, value: str) -> Box:
    """The box of `x1,y1,x2,y2` (fractions), or of a Media Fragments `xywh=percent:x,y,w,h` handed on with its name.

    Without a unit, `xywh` counts pixels (Media Fragments 1.0, 4.2.2), which are whole numbers: with a decimal point
    they are read as fractions, without one they are refused, because the picture's size is not known here.
    """
    if not value.startswith("xywh="):
        return _box(text, value, *four_numbers(text, value))
    body = value.removeprefix("xywh=")
    unit, colon, rest = body.partition(":")
    numbers = rest if colon else body
    if unit == "pixel" or (not colon and "." not in body):
        raise AddressMalformed(
            text, value, "pixels need the size of the picture: give fractions or xywh=percent:x,y,w,h"
        )
    if colon and unit != "percent":
        raise AddressMalformed(text, unit, "the unit of xywh is percent or pixel")
    whole = Decimal(100) if colon else Decimal(1)
    return box_from_xywh(text, numbers, whole, whole)


def _box(text: str, value: str, x1: float, y1: float, x2: float, y2: float) -> Box:
    try:
        return Box(x1, y1, x2, y2)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, value, str(wrong)) from wrong
