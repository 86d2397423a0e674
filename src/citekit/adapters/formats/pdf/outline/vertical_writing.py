"""Handles vertical writing: joins stacked characters into columns, and converts columns to horizontal lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.lines import StyledLine

_EAST_ASIAN = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe10-\ufe4f\uff00-\uffef]")

CHARACTER_GAP = 0.8
"""The largest gap between two characters of one column, as a multiple of the font size."""


def join_columns(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the lines, with the stacked characters of each column of vertical writing joined into one line."""
    joined: list[StyledLine] = []
    for line in lines:
        if joined and _continues_column(joined[-1], line):
            last = joined[-1]
            left, right = min(last.left, line.left), max(last.right, line.right)
            text = last.text + line.text
            joined[-1] = evolve(last, text=text, left=left, right=right, bottom=line.bottom, upright=False)
        else:
            joined.append(line)
    return joined


def _continues_column(column: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` is the next character or the next piece of text in the column."""
    single = len(line.text) == 1 and (len(column.text) == 1 or not column.upright)
    if not (single or not (column.upright or line.upright)) or column.size != line.size:
        return False
    if not (_EAST_ASIAN.match(line.text) and _EAST_ASIAN.match(column.text)):
        return False
    level = abs((column.left + column.right) - (line.left + line.right)) < line.size
    length = line.size * len(line.text)
    return level and 0.6 * length < line.bottom - column.bottom < length + CHARACTER_GAP * line.size


def is_vertical(lines: Sequence[StyledLine]) -> bool:
    """Return whether most of the text of a page is vertical."""
    along = sum(len(line.text) for line in lines if not line.upright and _EAST_ASIAN.match(line.text))
    return along * 2 > sum(len(line.text) for line in lines)


def columns_as_lines(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the columns of a vertical page as horizontal lines; horizontal lines of the page are left out.

    The distance of a column from the right edge of the text becomes its distance from the top.
    """
    columns = [line for line in lines if not line.upright]
    edge = max((line.right for line in columns), default=0.0)
    return [
        evolve(
            line, left=line.top, right=line.bottom, top=edge - line.right, bottom=edge - line.left, upright=True,
            block=index,
        )
        for index, line in enumerate(columns)
    ]  # fmt: skip
