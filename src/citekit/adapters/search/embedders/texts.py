"""Prepares texts for models: valid Unicode, in segments that a model can accept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from attrs import frozen

PIECES = 16
"""Maximum number of segments of one text that are embedded. Of a longer text, this many are chosen at even intervals.
"""

_SURROGATES = re.compile("[\ud800-\udfff]")
T = TypeVar("T")


@frozen
class Prompts:
    """The prompts before a query and before a passage, as specified by the model."""

    query: str = ""
    document: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.document)


def plain(text: str) -> str:
    """Return `text` with U+FFFD for every unpaired surrogate, which UTF-8 cannot represent."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def spread(pieces: Sequence[T], limit: int = PIECES) -> Sequence[T]:
    """Return all items, or `limit` of them at even intervals, including the first and the last."""
    if len(pieces) <= limit:
        return pieces
    return [pieces[number * (len(pieces) - 1) // (limit - 1)] for number in range(limit)]


def pieces(text: str, size: int) -> list[str]:
    """Split `text` into segments of at most `size` bytes of UTF-8, at white space if there is any near the end of a
    segment.
    """
    if len(text) * 4 <= size or len(text.encode()) <= size:
        return [text]
    found, start = [], 0
    while start < len(text):
        end = _end(text, start, size)
        found.append(text[start:end])
        start = end
    return found


def _end(text: str, start: int, size: int) -> int:
    window = text[start : start + size].encode()[:size].decode(errors="ignore")
    end = start + max(1, len(window))
    if end >= len(text):
        return len(text)
    space = max(text.rfind(mark, start + len(window) * 3 // 4, end) for mark in " \n\t")
    return space + 1 if space > start else end
