"""Finds the lines of a page that best answer a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citekit.domain.library.lexical import stems, tokens

MOST = 3
"""The maximum number of lines."""

COST = 0.12
"""The cost of another line, as a fraction of the question's words."""

FURTHER = 0.15
"""The minimum value of further lines: the fraction of the question's words that they contain and that were not found
before.
"""


def best_lines(text: str, rarities: Mapping[str, float]) -> tuple[int, int]:
    """Return the lines of `text` that contain most of the question's words, as character offsets (start, end).

    `rarities` has the rarity of each stem of the question. If no stem occurs, the result is the first line with text.
    """
    return _best(_lines(text, frozenset(rarities)), rarities)[1] or (0, len(text))


def further_lines(text: str, rarities: Mapping[str, float], found: tuple[int, int]) -> tuple[int, int] | None:
    """Return other lines, which contain most of the words that the lines `found` do not contain, or None if they
    contain few.
    """
    lines = _lines(text, frozenset(rarities))
    start, end = found
    known = frozenset[str]().union(*(stems for first, last, stems in lines if first < end and last > start))
    others = [(first, last, stems - known) for first, last, stems in lines if last <= start or first >= end]
    worth, chosen = _best(others, rarities)
    return chosen if worth >= FURTHER else None


_Line = tuple[int, int, frozenset[str]]


def _lines(text: str, wanted: frozenset[str]) -> list[_Line]:
    """Return the offsets of each line with text, and the stems of `wanted` in it."""
    lines, at = list[_Line](), 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((at, at + len(line), wanted.intersection(stems(tokens(line)))))
        at += len(line) + 1
    return lines


def _best(lines: Sequence[_Line], rarities: Mapping[str, float]) -> tuple[float, tuple[int, int] | None]:
    """Return the value of the best adjacent lines, as a fraction of all words, and their offsets, or None if there are
    no lines.
    """
    whole = sum(rarities.values()) or 1.0
    best, chosen = -1.0, None
    for first in range(len(lines)):
        found: frozenset[str] = frozenset()
        for last in range(first, min(first + MOST, len(lines))):
            found |= lines[last][2]
            worth = sum(rarities[stem] for stem in found) / whole - COST * (last - first)
            if worth > best:
                best, chosen = worth, (lines[first][0], lines[last][1])
    return best, chosen
