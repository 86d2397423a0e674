"""Finds the lines of a page that best answer a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from citekit.domain.library.lexical import stems, tokens
from citekit.domain.words import LINES_KEPT, lines_that_may_have

MOST = 3
"""Maximum number of adjacent lines in a result."""

COST = 0.12
"""The cost of each line after the first, as a fraction of the question's words."""

FURTHER = 0.15
"""Minimum value of further lines, as a fraction of the question's words."""


def best_lines(text: str, rarities: Mapping[str, float]) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """Return the adjacent lines of `text` with the highest value, and further lines, as character offsets.

    The value is the share of the question's words that the lines contain, by rarity, less the costs of the lines.
    `rarities` has the rarity of each stem of the question. If no stem occurs, the best line is the first line with
    text. In a blank text, the result is the whole text. For the further lines, only words that the best lines do not
    contain count; they are None if their value is below `FURTHER`.
    """
    lines = _lines(text, frozenset(rarities))
    start, end = best = _best(lines, rarities)[1] or (0, len(text))
    known = frozenset[str]().union(*(stems for first, last, stems in lines if first < end and last > start))
    others = [(first, last, stems - known) for first, last, stems in lines if last <= start or first >= end]
    worth, further = _best(others, rarities)
    return best, further if worth >= FURTHER else None


_Line = tuple[int, int, frozenset[str]]


def _lines(text: str, wanted: frozenset[str]) -> list[_Line]:
    """Return the offsets of each line with text, and the stems of `wanted` in it."""
    lines, at = list[_Line](), 0
    likely = lines_that_may_have(text, wanted)  # most lines need not be divided into words
    for number, line in enumerate(text.split("\n")):
        if line.strip():
            found = wanted & _line_stems(line) if number in likely else frozenset[str]()
            lines.append((at, at + len(line), found))
        at += len(line) + 1
    return lines


@lru_cache(maxsize=LINES_KEPT)
def _line_stems(line: str) -> frozenset[str]:
    """Return the stems of a line, cached because the same pages are the best for many questions."""
    return frozenset(stems(tokens(line)))


def _best(lines: Sequence[_Line], rarities: Mapping[str, float]) -> tuple[float, tuple[int, int] | None]:
    """Return the value of the best adjacent lines, and their offsets, or None if there are no lines.

    The best lines begin with a line that has a stem, if there is one.
    """
    whole = sum(rarities.values()) or 1.0
    best, chosen = (0.0, lines[0][:2]) if lines else (-1.0, None)
    for first in (number for number, line in enumerate(lines) if line[2]):
        found: frozenset[str] = frozenset()
        share = 0.0
        for last in range(first, min(first + MOST, len(lines))):
            if not lines[last][2] <= found:
                found |= lines[last][2]
                share = sum(rarities[stem] for stem in found) / whole
            worth = share - COST * (last - first)
            if worth > best:
                best, chosen = worth, (lines[first][0], lines[last][1])
    return best, chosen
