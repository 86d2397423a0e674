"""Wraps and truncates text to terminal columns, in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

CUT = "..."


def clipped(text: str, columns: int) -> str:
    """Return `text`, truncated with an ellipsis if it is wider than `columns` terminal columns.

    Example:
        >>> clipped("Moby-Dick; or, The Whale", 12), clipped("鲁迅全集第一卷", 9), clipped("Emma", 9)
        ('Moby-Dick...', '鲁迅全...', 'Emma')
    """
    if _width(text) <= columns:
        return text
    end = _fitting(text, columns - len(CUT))
    return f"{text[:end].rstrip(' ;,')}{CUT}"


def folded(text: str, columns: int, most: int) -> list[str]:
    """Return `text` wrapped into at most `most` lines of at most `columns` terminal columns.

    Lines end at spaces or between wide characters, or within a longer word. An ellipsis replaces the rest.

    Example:
        >>> folded("The quick brown fox jumps", 10, 2), folded("今天晚上很好的月光", 10, 2)
        (['The quick', 'brown f...'], ['今天晚上很', '好的月光'])
    """
    lines: list[str] = []
    for line in _lines(" ".join(text.split()), columns):
        if len(lines) == most:
            lines[-1] = (
                clipped(f"{lines[-1]} {line}", columns) if _width(lines[-1]) + 4 > columns else f"{lines[-1]} {CUT}"
            )
            break
        lines.append(line)
    return lines


def _lines(text: str, columns: int) -> Iterator[str]:
    while text:
        end = _fitting(text, columns)
        if end < len(text):
            end = next((at for at in range(end, 0, -1) if _may_break(text, at)), end)
        yield text[:end].rstrip()
        text = text[end:].lstrip()


def _may_break(text: str, at: int) -> bool:
    return " " in text[at - 1 : at + 1] or (_columns(text[at - 1]) == 2 and _columns(text[at]) == 2)


def _fitting(text: str, columns: int) -> int:
    """Return the number of characters of `text` that fit into `columns`, at least 1."""
    used = 0
    for at, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            return max(at, 1)
    return len(text)


def _width(text: str) -> int:
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    """Return the terminal columns of a character (UAX 11): 2 for a wide one, 0 for a combining mark, otherwise 1."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
