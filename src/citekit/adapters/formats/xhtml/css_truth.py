"""Three-valued truth: a condition holds (True), does not hold (False), or cannot be decided (None)."""

from __future__ import annotations

from collections.abc import Iterable

Truth = bool | None


def every(conditions: Iterable[Truth]) -> Truth:
    """Return whether all conditions hold."""
    result: Truth = True
    for each in conditions:
        if each is False:
            return False
        if each is None:
            result = None
    return result


def some(conditions: Iterable[Truth]) -> Truth:
    """Return whether at least one condition holds."""
    result: Truth = False
    for each in conditions:
        if each is True:
            return True
        if each is None:
            result = None
    return result


def inverted(condition: Truth) -> Truth:
    """Return whether the condition does not hold."""
    return None if condition is None else not condition
