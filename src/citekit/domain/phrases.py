"""Forms parts of messages that depend on a number or on the length of a list."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, thing: str, plural: str | None = None) -> str:
    """Return a number with its noun, such as `1 page` or `2 pages`. `plural` defaults to `thing` with an s."""
    return f"{number} {thing if number == 1 else plural or f'{thing}s'}"


def series(items: Iterable[str], conjunction: str = "and") -> str:
    """Return the items as a list in a sentence: `a`, `a and b`, or `a, b, and c`. Without items, the result is empty."""
    *others, last = [*items] or [""]
    comma = "," if len(others) > 1 else ""
    return f"{', '.join(others)}{comma} {conjunction} {last}" if others else last
