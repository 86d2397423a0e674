"""Titles and spans of stretches of time."""

from __future__ import annotations

from citekit.adapters.mapping.local.outline import one_line
from citekit.domain.locations import TimeSpan
from citekit.domain.modality import Modality

TITLE_WORDS = 60
"""Characters of a title that is made of what is said."""


def span(start: float, end: float, modality: Modality) -> TimeSpan:
    """The span in whole milliseconds, where that does not lead beyond `end` nor leaves nothing between."""
    low, high = round(start, 3), round(end, 3)
    high = high if high <= end else end
    return TimeSpan(low if low < high else start, high if low < high else end, modality)


def clock(seconds: float) -> str:
    """A time as people write it, whole seconds: `0:41`, `1:02:03`."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def numbered(kind: str, number: int, start: float, end: float) -> str:
    """`Scene 3 (0:41-0:55)`."""
    return f"{kind} {number} ({clock(start)}-{clock(end)})"


def first_words(text: str) -> str:
    """The first sentence of what is said, or its first words."""
    for mark in (". ", "? ", "! "):
        head, found, _ = text.partition(mark)
        if found and 15 <= len(head) <= TITLE_WORDS:
            text = head + mark.strip()
            break
    return one_line(text, TITLE_WORDS)
