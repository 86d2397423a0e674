"""Joins the words of justified lines that are separate pieces of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from citekit.adapters.formats.pdf.outline.heading_numbers import is_heading_number
from citekit.adapters.formats.pdf.outline.lines import StyledLine
from citekit.adapters.formats.pdf.outline.rows import font_of

MIN_JUSTIFIED = 3
"""The minimum number of words whose spaces show that a line is justified."""


def join_justified(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the lines, with the words of each justified line joined that equal wide spaces separate.

    Another line follows in the same paragraph, as only lines before the last are justified.
    """
    joined: list[StyledLine] = []
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and _is_same_row(lines[end - 1], lines[end]):
            end += 1
        row = list(lines[start:end])
        words = row[1:] if is_heading_number(row[0].text) else row
        if len(words) >= MIN_JUSTIFIED and end < len(lines) and _is_justified_above(words, row[0], lines[end]):
            joined += row[: len(row) - len(words)]
            joined.append(evolve(words[0], text=" ".join(word.text for word in words), right=words[-1].right))
        else:
            joined += row
        start = end
    return joined


def _is_same_row(one: StyledLine, other: StyledLine) -> bool:
    level = abs(one.bottom - other.bottom) < 1 and one.block == other.block and font_of(one) == font_of(other)
    return level and one.right <= other.left


def _is_justified_above(words: Sequence[StyledLine], first: StyledLine, below: StyledLine) -> bool:
    """Return whether the spaces between `words` are equal, and `below` is the next line of their paragraph."""
    gaps = [other.left - one.right for one, other in pairwise(words)]
    follows = below.block == first.block and font_of(below) == font_of(first)
    near = 0 < below.bottom - first.bottom < 2 * (first.bottom - first.top)
    aligned = first.left - 1 <= below.left < words[0].right
    return max(gaps) - min(gaps) < 1 and follows and near and aligned
