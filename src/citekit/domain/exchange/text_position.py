"""A stretch of characters in a text, and the lines it lies on."""

from __future__ import annotations

import re
from bisect import bisect_right

from attrs import frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.locations import Lines

_END = re.compile(r"\r\n|\n|\r")


@frozen
class TextPosition:
    """Characters from `start` (included) to `end` (excluded), 0-based, counted in Unicode code points.

    `end` is None where it is the end of the text. Raises `LocationMalformed` for a negative or reversed stretch; an
    empty one is a position between two characters.
    """

    start: int
    end: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end < self.start):
            raise LocationMalformed(f"characters run from 0 on, start before end, not from {self.start} to {self.end}")


def position_of(lines: Lines, text: str) -> TextPosition:
    """The characters of `lines`, their line ends included. Raises `LocationOutside` beyond the end of the text."""
    starts = line_starts(text)
    if lines.last > len(starts):
        raise LocationOutside(f"line {lines.last} is beyond the end: the text has {len(starts)} lines")
    return TextPosition(starts[lines.first - 1], starts[lines.last] if lines.last < len(starts) else len(text))


def lines_of(position: TextPosition, text: str) -> Lines:
    """The lines that hold those characters. Raises `LocationOutside` where the text ends before them."""
    end = len(text) if position.end is None else position.end
    if end > len(text) or position.start >= len(text):
        raise LocationOutside(f"character {end} is beyond the end: the text has {len(text)} characters")
    starts = line_starts(text)
    return Lines(bisect_right(starts, position.start), bisect_right(starts, max(position.start, end - 1)))


def line_starts(text: str) -> list[int]:
    """Where every line begins, ended by LF, CR LF or CR as in `citekit.domain.line_index`."""
    starts = [0, *(found.end() for found in _END.finditer(text))] if text else []
    return starts[:-1] if len(starts) > 1 and starts[-1] == len(text) else starts
