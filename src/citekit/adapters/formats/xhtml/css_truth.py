"""Three-valued truth: a condition holds (True), does not hold (False), or cannot be decided (None)."""

from __future__ import annotations

from collections.abc import Iterable

Truth = bool | None


def every(conditions: Iterable[Truth]) -> Truth:
    """Return False if a condition does not hold, else None if one cannot be decided, else True."""
    result: Truth = True
    for each in conditions:
        if each is False:
            return False
        if each is None:
            result = None
    return result


def some(conditions: Iterable[Truth]) -> Truth:
    """Return True if a condition holds, else None if one cannot be decided, else False."""
    result: Truth = False
    for each in conditions:
        if each is True:
            return True
        if each is None:
            result = None
    return result


def inverted(condition: Truth) -> Truth:
    """Return whether the condition does not hold; None if it cannot be decided."""
    return None if condition is None else not condition
