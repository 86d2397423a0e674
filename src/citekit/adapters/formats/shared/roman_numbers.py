"""Converts Roman numerals in lowercase to integers and back."""

from __future__ import annotations

from itertools import pairwise

_LETTERS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_SIGNS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def from_roman(text: str) -> int:
    """Return the value of a Roman numeral, even a nonstandard one; 0 if `text` is empty or has other characters."""
    total = 0
    for one, following in pairwise([*text, ""]):
        value = _LETTERS.get(one, 0)
        if not value:
            return 0
        total += -value if _LETTERS.get(following, 0) > value else value
    return total


def to_roman(number: int) -> str:
    """Return `number` as a Roman numeral in standard form; "" if it is 0 or greater than 3999."""
    if number > 3999:
        return ""
    text = ""
    for value, sign in _SIGNS:
        text += sign * (number // value)
        number %= value
    return text
