"""Cuts a text around a passage, at the borders of sentences and lines."""

from __future__ import annotations

import re

CUT = "[...]"
"""Stands for the text before or after an excerpt."""

_BORDER = re.compile(r"\s*\n\s*|(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)]*\s+|(?<=[\u3002\uff01\uff1f])")


def excerpt(text: str, passage: str, limit: int) -> str:
    """Return at most `limit` characters of `text`, plus the marks where it is cut: `passage` and what is next to it.

    Whole sentences and lines are added on both sides in turn. If the passage is not in the text, the excerpt is the
    beginning of the text; if it is longer than the limit, its own beginning.
    """
    if len(text) <= limit:
        return text
    start = max(0, text.find(passage))
    end = min(len(text), start + (len(passage) if text.startswith(passage, start) else 0), start + limit)
    borders = sorted({0, len(text), *(found.end() for found in _BORDER.finditer(text))})
    before = [each for each in reversed(borders) if each < start]
    after = [each for each in borders if each > end]
    is_open = True
    while is_open:
        is_open = False
        if after and after[0] - start <= limit:
            end, is_open = after.pop(0), True
        if before and end - before[0] <= limit:
            start, is_open = before.pop(0), True
    if start == end:  # a single sentence that is too long
        end = start + limit
    return f"{f'{CUT} ' if start else ''}{text[start:end].strip()}{f' {CUT}' if end < len(text) else ''}"
