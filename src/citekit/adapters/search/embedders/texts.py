"""Prepares texts for models: replaces invalid Unicode and splits texts into segments that a model accepts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from attrs import frozen

PIECES = 16
"""Maximum number of segments of one text that are embedded, chosen at even intervals."""

_SURROGATES = re.compile("[\ud800-\udfff]")
T = TypeVar("T")


@frozen
class Prompts:
    """The texts that a model requires before a query and before a passage. Both may be ""."""

    query: str = ""
    document: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.document)


def plain(text: str) -> str:
    """Return `text` with U+FFFD in place of every unpaired surrogate, which UTF-8 cannot represent."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def spread(pieces: Sequence[T], limit: int = PIECES) -> Sequence[T]:
    """Return all `pieces`; if there are more than `limit`, that many at even intervals, including the first and the
    last.
    """
    if len(pieces) <= limit:
        return pieces
    return [pieces[number * (len(pieces) - 1) // (limit - 1)] for number in range(limit)]


def pieces(text: str, size: int) -> list[str]:
    """Split `text` into segments of at most `size` bytes of UTF-8.

    A segment ends at white space if its last quarter contains any.
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
