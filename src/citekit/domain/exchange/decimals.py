"""Decimal arithmetic without rounding, so that what is exported reads back as the same value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, localcontext

from citekit.domain.errors import AddressMalformed, LocationMalformed
from citekit.domain.fragments import four_numbers
from citekit.domain.locations import Box

_PRECISE = Context(prec=1200)
"""A float has at most 767 digits, so the sum or product of two always fits."""

DIGITS_LIMIT = 400
"""Characters of one number that is read; the shortest text of a float never has more."""


@contextmanager
def exactly() -> Iterator[None]:
    """Decimal arithmetic inside loses no digit of a float."""
    with localcontext(_PRECISE):
        yield


def exact(value: float) -> Decimal:
    """The decimal number that a person reads: `exact(0.1)` is 0.1, not the binary fraction next to it."""
    return Decimal(repr(float(value)))


def plain(value: Decimal) -> str:
    """Positional text without an exponent or idle zeros."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def xywh(box: Box, width: Decimal, height: Decimal) -> str:
    """`x,y,w,h` of a box in a picture of that size, exactly."""
    with exactly():
        x1, y1, x2, y2 = (exact(value) for value in box.corners)
        return ",".join(plain(part) for part in (x1 * width, y1 * height, (x2 - x1) * width, (y2 - y1) * height))


def box_from_xywh(text: str, value: str, width: Decimal, height: Decimal) -> Box:
    """The box of `x,y,w,h` in a picture of that size.

    What reaches beyond the right or lower edge is cut off there. Raises `AddressMalformed` for anything but four
    unsigned numbers, for an empty rectangle, and for one that lies outside the picture altogether.
    """
    with exactly():
        x, y, w, h = decimals(text, value)
        if not w or not h:
            raise AddressMalformed(text, value, "the rectangle is empty")
        return box_from_edges(text, value, (x, y, x + w, y + h), width, height)


def box_from_edges(
    text: str, value: str, edges: tuple[Decimal, Decimal, Decimal, Decimal], width: Decimal, height: Decimal
) -> Box:
    """The box between (left, top, right, bottom), cut off at the right and lower edge of a picture of that size."""
    with exactly():
        left, top, right, bottom = edges
        if left >= width or top >= height:
            raise AddressMalformed(text, value, "the rectangle lies outside the picture or page")
        corners = (left / width, top / height, min(right / width, Decimal(1)), min(bottom / height, Decimal(1)))
        try:
            return Box(*(float(corner) for corner in corners))
        except LocationMalformed as wrong:
            raise AddressMalformed(text, value, str(wrong)) from wrong


def decimals(text: str, value: str) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """The four unsigned decimal numbers of `a,b,c,d`. Raises `AddressMalformed`."""
    if len(value) > 4 * DIGITS_LIMIT:
        raise AddressMalformed(text, value, "the numbers are too long")
    four_numbers(text, value)
    a, b, c, d = (Decimal(part) for part in value.split(","))
    return a, b, c, d
