"""Numbers as text, and back, without losing a bit.

An address holds a number as the shortest decimal text (no exponent, no trailing `.0`) that reads back to the same
value, so that equal locations have equal addresses and no half second is dropped.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

_DECIMAL = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_WHOLE = re.compile(r"\d+", re.ASCII)


def shortest(value: float) -> str:
    """The shortest positional text that `float` reads back to exactly `value`; whole numbers without a point.

    >>> shortest(145.0), shortest(145.5), shortest(1e-7)
    ('145', '145.5', '0.0000001')
    """
    text = format(Decimal(repr(float(value))), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def read_decimal(text: str) -> float | None:
    """The value of an unsigned decimal number (`12`, `12.5`, `.5`), or None where `text` is anything else."""
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def read_whole(text: str) -> int | None:
    """The value of an unsigned whole number of at most 12 digits, or None where `text` is anything else."""
    return int(text) if _WHOLE.fullmatch(text) and len(text) <= 12 else None
