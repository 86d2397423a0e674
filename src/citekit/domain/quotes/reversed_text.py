"""Finds text that readers see in another order than in the file, because of right-to-left overrides."""

from __future__ import annotations

import re

_OVERRIDE, _END = "\u202e", "\u202c"
_OPENING = frozenset("\u202a\u202b\u202d")
_LINE_END = re.compile(r"[\n\r\x1c-\x1e\x85\u2029]")


def is_reversed(text: str, start: int, end: int) -> bool:
    """Return whether a letter or digit of `text[start:end]` is shown from right to left by an override (UAX #9, X4)."""
    if _OVERRIDE not in text:
        return False
    first = max(text.rfind(mark, 0, start) for mark in "\n\r\x85\u2029") + 1
    opened: list[bool] = []
    for at in range(first, end):
        character = text[at]
        if character == _OVERRIDE or character in _OPENING:
            opened.append(character == _OVERRIDE)
        elif character == _END:
            del opened[-1:]
        elif _LINE_END.match(character):
            opened.clear()
        elif at >= start and opened and opened[-1] and character.isalnum():
            return True
    return False
