"""Cuts a long line, such as a paragraph of an HTML file, to the part with the words of a query."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citekit.domain.library.excerpt import around

CUT = "..."
"""The mark for the part of a line that is not shown."""


def cut_around(line: str, words: Sequence[str], limit: int) -> str:
    """Return the part of a line with the most distinct `words` (in lowercase): at most `limit` characters, and marks
    where it is cut.

    It begins and ends between sentences if whole sentences fit.
    """
    lowered = line.lower()  # a few letters have two characters in lowercase
    start, end = _densest(lowered if len(lowered) == len(line) else line, words, limit)
    start, end = _filled(line, *around(line, start, end, limit), limit)
    return f"{CUT if start else ''}{line[start:end].strip()}{CUT if end < len(line) else ''}"


def _filled(line: str, start: int, end: int, limit: int) -> tuple[int, int]:
    """Return the range, extended to at most `limit` characters if whole sentences were too long."""
    if end - start >= limit // 2:
        return start, end
    spare = limit - (end - start)
    low = max(0, start - max(spare // 2, spare - (len(line) - end)))
    high = min(len(line), low + limit)
    low = (line.find(" ", low, start) + 1 or low) if low else 0
    border = line.rfind(" ", end, high)
    return low, high if high == len(line) or border < 0 else border


def _densest(lowered: str, words: Sequence[str], limit: int) -> tuple[int, int]:
    """Return the shortest range of at most `limit` characters with the most distinct words."""
    wanted = [re.escape(word) for word in dict.fromkeys(words) if word]
    found = (
        [(each.start(), each.end()) for each in re.finditer(rf"\b(?:{'|'.join(wanted)})", lowered)] if wanted else []
    )
    best, chosen = (0, 0), (0, 0)
    for number, (start, _) in enumerate(found):
        seen = set[str]()
        for begin, end in found[number:]:
            if end - start > limit:
                break
            seen.add(lowered[begin:end])
            if (len(seen), start - end) > best:
                best, chosen = (len(seen), start - end), (start, end)
    return chosen
