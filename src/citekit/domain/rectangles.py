"""Converts between boxes and rectangles in text: `x,y,w,h` in pixels, points, percent, or fractions.

A rectangle that extends beyond the picture because of rounding is cut at the edge. One that extends farther is refused,
so that a location is never smaller than intended. With `crop`, it is cut instead, as some standards require (IIIF Image
3.0, 4.1; Media Fragments 1.0, 5.1.2).
"""

from __future__ import annotations

from decimal import Decimal

from citekit.domain.errors import AddressMalformed, LocationMalformed
from citekit.domain.locations import Box
from citekit.domain.numbers import exact, exactly, plain, read_decimal

DIGITS_LIMIT = 400
"""Maximum number of characters of a number, on average over the four of a rectangle. The shortest decimal text of a
float has fewer.
"""

_HUNDREDTH = Decimal("0.01")

Four = tuple[Decimal, Decimal, Decimal, Decimal]


def xywh(box: Box, width: Decimal, height: Decimal) -> str:
    """Return a box as the exact text `x,y,w,h` for a picture of `width` by `height`."""
    with exactly():
        x1, y1, x2, y2 = (exact(value) for value in box.corners)
        return ",".join(plain(part) for part in (x1 * width, y1 * height, (x2 - x1) * width, (y2 - y1) * height))


def box_from_xywh(text: str, value: str, width: Decimal, height: Decimal, *, crop: bool = False) -> Box:
    """Parse a rectangle `x,y,w,h` in a picture of `width` by `height`.

    `value` is the rectangle in the address `text`, and `crop` is as in `box_of_size`. Raise `AddressMalformed` if
    `decimals` or `box_of_size` refuses the rectangle.
    """
    try:
        return box_of_size(decimals(text, value), width, height, crop=crop)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, value, wrong.reason) from wrong


def box_from_edges(text: str, value: str, edges: Four, width: Decimal, height: Decimal, *, crop: bool = False) -> Box:
    """Return the box with the given edges (left, top, right, bottom) in a picture of `width` by `height`.

    `value` is the rectangle in the address `text`, for messages. `crop` is as in `box_of_size`. Raise
    `AddressMalformed` if the edges are not a valid rectangle.
    """
    try:
        return _between(edges, None if crop else _units(edges), width, height)
    except LocationMalformed as wrong:
        raise AddressMalformed(text, value, wrong.reason) from wrong


def box_of_size(numbers: Four, width: Decimal, height: Decimal, *, crop: bool = False) -> Box:
    """Return the box for a rectangle (x, y, width, height) in a picture of `width` by `height`.

    Raise `LocationMalformed` if the rectangle is empty or outside the picture, or if it extends beyond the right or
    lower edge by more than one unit of its last decimal place or a hundredth of the picture. With `crop`, it is cut
    there instead.
    """
    with exactly():
        x, y, w, h = numbers
        if not w or not h:
            raise LocationMalformed("the width and height of a rectangle must be above 0")
        return _between((x, y, x + w, y + h), None if crop else _units(numbers), width, height)


def _between(edges: Four, units: tuple[Decimal, Decimal] | None, width: Decimal, height: Decimal) -> Box:
    with exactly():
        left, top, right, bottom = edges
        if left >= width or top >= height:
            raise LocationMalformed("the rectangle is outside the picture or page")
        if units is None:
            right, bottom = min(right, width), min(bottom, height)
        else:
            right, bottom = _inside(right, width, units[0]), _inside(bottom, height, units[1])
        return Box(*(float(edge) for edge in (left / width, top / height, right / width, bottom / height)))


def _units(numbers: Four) -> tuple[Decimal, Decimal]:
    """Return the possible rounding error in each direction: one unit of the last decimal place."""
    across, down = ((numbers[0], numbers[2]), (numbers[1], numbers[3]))
    return max(map(_unit, across)), max(map(_unit, down))


def _unit(number: Decimal) -> Decimal:
    exponent = number.as_tuple().exponent
    return Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(0)


def _inside(edge: Decimal, whole: Decimal, unit: Decimal) -> Decimal:
    if edge - whole > min(unit, whole * _HUNDREDTH):
        raise LocationMalformed("the rectangle extends beyond the edge of the picture or page")
    return min(edge, whole)


def decimals(text: str, value: str) -> Four:
    """Parse the four unsigned decimal numbers of `value` (`a,b,c,d`).

    Raise `AddressMalformed`, with the address `text`, if `value` has another form or is too long.
    """
    if len(value) > 4 * DIGITS_LIMIT:
        raise AddressMalformed(text, value, f"the value is longer than {4 * DIGITS_LIMIT:,} characters")
    four_numbers(text, value)
    a, b, c, d = (Decimal(part) for part in value.split(","))
    return a, b, c, d


def four_numbers(text: str, value: str) -> tuple[float, float, float, float]:
    """Parse the four unsigned decimal numbers of `value` (`a,b,c,d`) as floats.

    Raise `AddressMalformed`, with the address `text`, if `value` has another form.
    """
    numbers = [read_decimal(part) for part in value.split(",")]
    if len(numbers) != 4 or any(number is None for number in numbers):
        raise AddressMalformed(text, value, "the value must be four numbers of at least 0, separated by commas")
    a, b, c, d = (number for number in numbers if number is not None)
    return a, b, c, d
