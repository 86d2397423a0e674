"""Parses the values in the fragment of an address: page lists, ranges, clock times, and boxes.

The parameter `text` is the complete address or fragment, for error messages. The parsing functions raise
`AddressMalformed` for a value that is not valid.
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
    """Return the page numbers in a list such as `3,5-7`, which is [3, 5, 6, 7].

    A list of more than `PAGES_LIMIT` pages is not valid.
    """
    pages: list[int] = []
    for run in value.split(","):
        if not run:
            raise AddressMalformed(text, value, "a page number is missing")
        first, last = whole_range(text, run)
        if last < first:
            raise AddressMalformed(text, run, "the page range is reversed")
        if last - first + len(pages) >= PAGES_LIMIT:
            raise AddressMalformed(text, run, f"an address can name at most {PAGES_LIMIT:,} pages")
        pages.extend(range(first, last + 1))
    return pages


def whole_range(text: str, value: str) -> tuple[int, int]:
    """Return the start and end of a range of whole numbers: `10-50` is (10, 50), and `10` is (10, 10).

    The range may be reversed.
    """
    start, dash, end = value.partition("-")
    first, last = read_whole(start), read_whole(end if dash else start)
    if first is None or last is None:
        raise AddressMalformed(
            text, value, "the value must be a whole number of at most 12 digits, or a range such as 10-50"
        )
    return first, last


def sheet_name(text: str, value: str) -> str:
    """Return the sheet name in `value`, without the quotes that it has in formulas: `'Bob''s'` becomes `Bob's`.

    An empty name is not valid.
    """
    if _in_quotes(value):
        value = value[1:-1].replace("''", "'")
    if not value:
        raise AddressMalformed(text, text, "the sheet name is missing")
    return value


def quoted_sheet(name: str) -> str:
    """Return the text from which `sheet_name` returns `name`. Only a name that is itself in quotes is put in quotes."""
    return "'" + name.replace("'", "''") + "'" if _in_quotes(name) else name


def _in_quotes(value: str) -> bool:
    return len(value) > 1 and value.startswith("'") and value.endswith("'")


def time_range(text: str, value: str) -> tuple[float, float | None]:
    """Return the start and end of a time range in seconds. The end is None if it is not given.

    Examples are `145.5-200`, `2:25.5,3:20`, `,20` (from 0 to 20), and `10` (from 10 to the end).
    """
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
    """Return the number of seconds in a time such as `200.5`, `3:20`, `03:20.5`, or `1:03:20`."""
    seconds = read_decimal(value)
    if seconds is not None:
        return seconds
    parts = _CLOCK.fullmatch(value)
    if not parts:
        raise AddressMalformed(text, value, "a time must be written like 145.5, 2:25.5, or 1:02:25")
    hours, minutes, rest = parts.groups()
    if float(rest) >= 60 or (hours is not None and int(minutes) >= 60):
        raise AddressMalformed(text, value, "seconds, and minutes after hours, must be below 60")
    return float(Decimal(hours or 0) * 3600 + Decimal(minutes) * 60 + Decimal(rest))


def box_value(text: str, value: str) -> Box:
    """Parse a box: `x1,y1,x2,y2` as fractions of the image, or `xywh=percent:x,y,w,h` (Media Fragments, including the
    name).

    Numbers after `xywh=` without a unit are read as fractions if one of them has a decimal point. Otherwise they are
    pixels (Media Fragments 1.0, section 4.2.2), which are refused because the size of the image is not known here.
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
