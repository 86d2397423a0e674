"""Converts between numbers and text.

A number in an address is the shortest decimal text that parses to the same value, so equal locations have equal
addresses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, localcontext

WHOLE_LIMIT = 10**12 - 1
"""The largest whole number in a location or an extent: addresses allow twelve digits."""

_PRECISE = Context(prec=1200)
"""A precision, in digits, that is enough for the sum or product of two results of `exact`, which have at most 17 digits
and exponents from -324 to 308.
"""

_DECIMAL = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_WHOLE = re.compile(r"\d+", re.ASCII)


def shortest(value: float) -> str:
    """Return the shortest decimal text, without an exponent, that `float` parses to exactly `value`.

    Whole numbers have no decimal point.

    Example:
        >>> shortest(145.0), shortest(145.5), shortest(1e-7)
        ('145', '145.5', '0.0000001')
    """
    return plain(exact(value))


@contextmanager
def exactly() -> Iterator[None]:
    """Provide a context in which sums and products of two results of `exact` lose no digits."""
    with localcontext(_PRECISE):
        yield


def exact(value: float) -> Decimal:
    """Return the shortest decimal number that parses to the same float, such as 0.1 for the float 0.1."""
    return Decimal(repr(float(value)))


def plain(value: Decimal) -> str:
    """Return a number as decimal text without an exponent or trailing zeros after the decimal point."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def real(value: float) -> float:
    """Return `value` as a float, or as infinity with its sign if it is too large for one.

    The value -0.0 becomes 0.0, so that equal locations have equal texts.
    """
    try:
        return float(value) + 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def read_decimal(text: str) -> float | None:
    """Parse an unsigned decimal number (`12`, `12.5`, `.5`). Return None for any other text or too large a number."""
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def read_whole(text: str) -> int | None:
    """Parse an unsigned whole number of at most 12 digits. Return None for any other text."""
    return int(text) if _WHOLE.fullmatch(text) and len(text) <= 12 else None
