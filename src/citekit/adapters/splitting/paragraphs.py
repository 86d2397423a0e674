"""Where paragraphs begin, and where the white space between sentences belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*|\r[^\S\r\n]*\r\s*|\u2029\s*")
_SPACE = re.compile(r"\s*")


def paragraph_starts(text: str) -> Iterator[int]:
    """Where text goes on after a blank line; rising."""
    return (found.end() for found in _BLANK_LINE.finditer(text) if found.end() < len(text))


def after_space(text: str, starts: Iterable[int]) -> list[int]:
    """0, and the rising `starts` each moved past white space to where text goes on, once each. Linear time."""
    moved = [0]
    for start in starts:
        if start <= moved[-1]:
            continue
        found = _SPACE.match(text, start)
        place = found.end() if found else start
        if place >= len(text):
            break
        moved.append(place)
    return moved
