"""Cuts a text around a passage, at the borders of sentences and lines."""

from __future__ import annotations

import re

CUT = "[...]"
"""Stands for the text before or after an excerpt."""

_BORDER = re.compile(r"\s*\n\s*|(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)]*\s+|(?<=[\u3002\uff01\uff1f])")


def excerpt(text: str, passage: str, limit: int) -> str:
    """Return `passage` and the text around it, at most `limit` characters of `text`, with a mark where the text is cut.

    If the passage is not in the text, the excerpt is the beginning of the text. See `around`.
    """
    at = text.find(passage)
    start, end = around(text, max(0, at), max(0, at) + (len(passage) if at >= 0 else 0), limit)
    before, after = f"{CUT} " if start else "", f" {CUT}" if end < len(text) else ""
    return f"{before}{text[start:end].strip()}{after}" if before or after else text


def around(text: str, start: int, end: int, limit: int) -> tuple[int, int]:
    """Return the start and end of a part of `text`, at most `limit` characters long, around the characters from `start`
    to `end`.

    Sentences and lines are added on both sides in turn. A range longer than the limit is cut at its end.
    """
    if len(text) <= limit:
        return 0, len(text)
    end = min(end, start + limit)
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
    return start, end if end > start else start + limit  # a single sentence can be too long
