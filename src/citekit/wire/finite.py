"""Detects numbers that JSON cannot represent."""

from __future__ import annotations

import math
from collections.abc import Mapping


def check_numbers(value: object) -> None:
    """Raise `ValueError` if `value` is, or contains, infinity or NaN."""
    pending = [value]
    while pending:
        match pending.pop():
            case Mapping() as found:
                pending.extend(found.values())
            case list() | tuple() as several:
                pending.extend(several)
            case float(number) if not math.isfinite(number):
                raise ValueError(f"{number} is not a number that JSON can represent")
