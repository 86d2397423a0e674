"""Numbers as text, and back, without losing a bit.

An address holds a number as the shortest decimal text (no exponent, no trailing `.0`) that reads back to the same
value, so that equal locations have equal addresses and no half second is dropped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal, localcontext

WHOLE_LIMIT = 10**12 - 1
"""The largest whole number in a place: what an address holds in its twelve digits."""

_PRECISE = Context(prec=1200)
"""A float has at most 767 digits, so the sum or product of two always fits."""

_DECIMAL = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_WHOLE = re.compile(r"\d+", re.ASCII)


def shortest(value: float) -> str:
    """The shortest positional text that `float` reads back to exactly `value`; whole numbers without a point.

    >>> shortest(145.0), shortest(145.5), shortest(1e-7)
    ('145', '145.5', '0.0000001')
    """
    return plain(exact(value))


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


def real(value: float) -> float:
    """`value` as a float, infinite where it is too large for one; -0.0 is 0.0, so that equal places have equal texts."""
    try:
        return float(value) + 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def read_decimal(text: str) -> float | None:
    """The value of an unsigned decimal number (`12`, `12.5`, `.5`), or None where `text` is anything else."""
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def read_whole(text: str) -> int | None:
    """The value of an unsigned whole number of at most 12 digits, or None where `text` is anything else."""
    return int(text) if _WHOLE.fullmatch(text) and len(text) <= 12 else None
