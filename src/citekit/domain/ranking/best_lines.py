"""Finds the lines of a page that best answer a question."""

from __future__ import annotations

from collections.abc import Mapping

from citekit.domain.library.lexical import stems, tokens

MOST = 3
"""The maximum number of lines."""

COST = 0.12
"""What another line costs, as a share of the question's words."""


def best_lines(text: str, rarities: Mapping[str, float]) -> tuple[int, int]:
    """Return the lines of `text` that have the most of the question's words, as character offsets (start, end).

    `rarities` has the rarity of each stem of the question. Without any of them, the result is the first line with text.
    """
    lines: list[tuple[int, int, frozenset[str]]] = []
    at = 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((at, at + len(line), frozenset(rarities.keys() & stems(tokens(line)))))
        at += len(line) + 1
    whole = sum(rarities.values()) or 1.0
    best, chosen = -1.0, (0, len(text))
    for first in range(len(lines)):
        found: frozenset[str] = frozenset()
        for last in range(first, min(first + MOST, len(lines))):
            found |= lines[last][2]
            worth = sum(rarities[stem] for stem in found) / whole - COST * (last - first)
            if worth > best:
                best, chosen = worth, (lines[first][0], lines[last][1])
    return chosen
