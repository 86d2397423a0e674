"""Texts as models take them: whole characters, in pieces that a model can hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from attrs import frozen

PIECES = 16
"""The maximum number of pieces of one text that are embedded; of a longer text, that many pieces, spread evenly."""

_SURROGATES = re.compile("[\ud800-\udfff]")
T = TypeVar("T")


@frozen
class Prompts:
    """What is put before a question, and before a passage; models say which words they were trained with."""

    query: str = ""
    document: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.document)


def plain(text: str) -> str:
    """`text` with U+FFFD for every half of a surrogate pair, which no encoding of Unicode has."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def spread(pieces: Sequence[T], limit: int = PIECES) -> Sequence[T]:
    """All of them, or `limit` that are spread evenly, the first and the last among them."""
    if len(pieces) <= limit:
        return pieces
    return [pieces[number * (len(pieces) - 1) // (limit - 1)] for number in range(limit)]


def pieces(text: str, size: int) -> list[str]:
    """`text` in pieces of at most `size` bytes of UTF-8, cut at white space where there is any near the end of a piece."""
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
