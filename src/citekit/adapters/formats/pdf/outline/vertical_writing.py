"""Vertical writing: characters below one another made columns, and a page of columns turned so that they are its lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.formats.pdf.outline.lines import Typed

_EAST_ASIAN = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe10-\ufe4f\uff00-\uffef]")

NEAR = 0.8
"""Sizes of the type between two characters of one column at most."""


def with_columns(lines: Sequence[Typed]) -> list[Typed]:
    """The lines, characters of vertical writing that stand below one another joined to one line a column."""
    joined: list[Typed] = []
    for line in lines:
        if joined and _goes_on(joined[-1], line):
            last = joined[-1]
            left, right = min(last.left, line.left), max(last.right, line.right)
            text = last.text + line.text
            joined[-1] = evolve(last, text=text, left=left, right=right, bottom=line.bottom, upright=False)
        else:
            joined.append(line)
    return joined


def _goes_on(column: Typed, line: Typed) -> bool:
    """Whether `line` is the next character of the column, or the next piece of one."""
    single = len(line.text) == 1 and (len(column.text) == 1 or not column.upright)
    if not (single or not (column.upright or line.upright)) or column.size != line.size:
        return False
    if not (_EAST_ASIAN.match(line.text) and _EAST_ASIAN.match(column.text)):
        return False
    level = abs((column.left + column.right) - (line.left + line.right)) < line.size
    length = line.size * len(line.text)
    return level and 0.6 * length < line.bottom - column.bottom < length + NEAR * line.size


def is_vertical(lines: Sequence[Typed]) -> bool:
    """Whether most of a page is vertical writing."""
    along = sum(len(line.text) for line in lines if not line.upright and _EAST_ASIAN.match(line.text))
    return along * 2 > sum(len(line.text) for line in lines)


def laid_down(lines: Sequence[Typed]) -> list[Typed]:
    """The columns of a vertical page as lines that run across, the rightmost first; lines that run across are left out.

    Points count from the right edge of the text downwards, and from the top to the right.
    """
    columns = [line for line in lines if not line.upright]
    edge = max((line.right for line in columns), default=0.0)
    return [
        evolve(
            line, left=line.top, right=line.bottom, top=edge - line.right, bottom=edge - line.left, upright=True,
            block=place,
        )
        for place, line in enumerate(columns)
    ]  # fmt: skip
