"""The lines of a page as rows: the pieces of a heading, and the number before it, made one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from citekit.adapters.mapping.local.pdf.columns import Columns
from citekit.adapters.mapping.local.pdf.lines import Typed
from citekit.adapters.mapping.local.pdf.numbering import is_number

WIDE_SPACE = 2.5
"""Sizes of the type between two words of a heading that was stretched to the width of its column, at most."""

_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_MARK_AFTER = re.compile(r"(?<=\d) *([.:)])(?! *\d) *")


def type_of(line: Typed) -> tuple[str, float, bool]:
    """Font, size in points, bold."""
    return line.font, line.size, line.bold


def whole(lines: Sequence[Typed], columns: Columns, large: float) -> list[Typed]:
    """The lines, those of at least `large` points that wide spaces between their words have broken into pieces made whole."""
    joined: list[Typed] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and line.size >= large and _is_piece(last, line, columns):
            joined[-1] = evolve(last, text=f"{last.text} {line.text}", right=line.right)
        else:
            joined.append(line)
    return joined


def _is_piece(one: Typed, other: Typed, columns: Columns) -> bool:
    """Whether `other` goes on in the row of `one`, in its type and column."""
    level = abs(one.bottom - other.bottom) < 1 and one.block == other.block and type_of(one) == type_of(other)
    near = 0 <= other.left - one.right < WIDE_SPACE * one.size
    return level and near and not (columns.gutter is not None and one.right <= columns.gutter <= other.left)


def with_numbers(lines: Sequence[Typed]) -> list[Typed]:
    """The lines, a number that stands before its heading joined to it."""
    joined: list[Typed] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and is_number(last.text) and _is_right_of(last, line):
            joined[-1] = evolve(line, text=f"{last.text} {line.text}", left=last.left)
        elif last is not None and is_number(last.text) and _is_left_of(last, line):
            joined[-1] = evolve(line, text=_MARK_AFTER.sub(r"\1 ", f"{last.text} {line.text}"), right=last.right)
        else:
            joined.append(line)
    return joined


def _is_right_of(number: Typed, line: Typed) -> bool:
    level = abs(number.bottom - line.bottom) < line.size / 2
    return level and -1 <= line.left - number.right < 6 * line.size and abs(number.size - line.size) < 0.3 * line.size


def _is_left_of(number: Typed, line: Typed) -> bool:
    """Whether `line` goes on to the left of its number, as Hebrew and Arabic do."""
    level = abs(number.bottom - line.bottom) < line.size / 2 and abs(number.size - line.size) < 0.3 * line.size
    return level and -1 <= number.left - line.right < 6 * line.size and bool(_RIGHT_TO_LEFT.search(line.text))
