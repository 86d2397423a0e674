"""Groups lines at one height into rows, detects column gutters, and joins headings in several pieces."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve, frozen

from citekit.adapters.formats.pdf.outline.heading_numbers import is_heading_number, is_series_label
from citekit.adapters.formats.pdf.outline.lines import StyledLine

MIN_ALIGNED_LINES = 5
"""The minimum number of lines that end at the position where the first column of a TOC ends."""


@frozen
class Row:
    """The lines at one height of a page, from left to right."""

    lines: tuple[StyledLine, ...]

    @property
    def text(self) -> str:
        """The text of the row's lines, joined with spaces."""
        return " ".join(line.text for line in self.lines)

    @property
    def left(self) -> float:
        """The left edge of the row, in points."""
        return self.lines[0].left

    @property
    def right(self) -> float:
        """The right edge of the row, in points."""
        return max(line.right for line in self.lines)

    @property
    def top(self) -> float:
        """The top edge of the row, in points."""
        return min(line.top for line in self.lines)

    @property
    def bottom(self) -> float:
        """The bottom edge of the row, in points."""
        return max(line.bottom for line in self.lines)


def rows_of(lines: Sequence[StyledLine]) -> list[Row]:
    """Return the horizontal lines grouped by their vertical center into rows from top to bottom."""
    rows: list[list[StyledLine]] = []
    for line in sorted((line for line in lines if line.upright), key=lambda line: (line.top + line.bottom) / 2):
        if rows and _share_row(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [Row(tuple(sorted(row, key=lambda line: line.left))) for row in rows]


def toc_gutters(lines: Sequence[StyledLine]) -> list[float]:
    """Return the x positions, in points, where the first column of a two-column table of contents may end.

    At such a position, between 30% and 70% of the text's width, at least `MIN_ALIGNED_LINES` lines end with a digit.
    """
    upright = [line for line in lines if line.upright]
    if not upright:
        return []
    left, right = min(line.left for line in upright), max(line.right for line in upright)
    ended = Counter(round(line.right) for line in upright if line.text[-1].isdecimal())
    low, high = left + 0.3 * (right - left), left + 0.7 * (right - left)
    return sorted(at + 1.0 for at, times in ended.items() if times >= MIN_ALIGNED_LINES and low < at < high)


def split_columns(lines: Sequence[StyledLine], gutter: float) -> list[list[StyledLine]]:
    """Split `lines` into four lists: above the columns, left column, right column, and below the columns.

    `gutter` is the x position, in points, of the gap between the columns.
    """
    first = min((line.top for line in lines if abs(line.right - gutter) < 2), default=math.inf)
    across = [line for line in lines if line.left < gutter - 1 and line.right > gutter + 1]
    top = max((line.bottom for line in across if line.top <= first), default=-math.inf)
    end = min((line.top for line in across if line.top > first), default=math.inf)
    above = [line for line in lines if line.top < top]
    inside = [line for line in lines if top <= line.top < end]
    return [
        above,
        [line for line in inside if line.left < gutter],
        [line for line in inside if line.left >= gutter],
        [line for line in lines if line.top >= max(top, end)],
    ]


def _share_row(one: StyledLine, other: StyledLine) -> bool:
    middle = (other.top + other.bottom) / 2
    return abs((one.top + one.bottom) / 2 - middle) < 0.35 * min(one.bottom - one.top, other.bottom - other.top)


MIN_COLUMN_LINES = 8
"""The minimum number of wide lines in each of several columns."""

EQUAL_COLUMNS = 0.03
"""The largest difference between the widths of three or more columns, as a share of the width."""

MIN_COLUMN_SHARE = 0.12
"""The minimum width of a wide line in one of three or more columns, as a share of the width of the text.

It is also the minimum distance between the left edges of two such columns.
"""


@frozen
class Columns:
    """The columns of a page: one, or several separated by gutters.

    `gutters` are the x positions of the gaps between columns in points, from left to right. `spans` are the tops of the
    lines that cross a gutter, in ascending order.
    """

    gutters: tuple[float, ...] = ()
    spans: tuple[float, ...] = ()

    def column_of(self, line: StyledLine) -> int:
        """Return 0 for a line in a single column or across columns, and otherwise the number of its column from 1."""
        if not self.gutters or any(line.left < gutter - 1 < gutter + 1 < line.right for gutter in self.gutters):
            return 0
        return 1 + sum(line.right > gutter + 1 for gutter in self.gutters)

    def band(self, line: StyledLine) -> int:
        """Return a number by which lines are ordered: twice the number of lines above `line` that cross a gutter, plus
        1 if `line` is in one of several columns.
        """
        return sum(top < line.top - 1 for top in self.spans) * 2 + (self.column_of(line) > 0)


def columns_of(lines: Sequence[StyledLine]) -> Columns:
    """Return the columns detected in `lines`: one, two, or more, as on a poster.

    They have many wide lines on each side of a gutter, and few across it.
    """
    upright = [line for line in lines if line.upright and line.right > line.left]
    if len(upright) < 2 * MIN_COLUMN_LINES:
        return Columns()
    left, right = min(line.left for line in upright), max(line.right for line in upright)
    width = right - left
    lefts = sorted({round(line.left) for line in upright if left + 0.3 * width < line.left < left + 0.7 * width})
    for start in lefts:
        at = start - 3.0
        before = [line for line in upright if line.right <= at + 1]
        after = [line for line in upright if line.left >= at]
        across = [line for line in upright if line.left < at - 1 and line.right > at + 2]
        wide = [line for line in after if line.left - start < 3 and line.right - line.left > 0.3 * width]
        if (
            len(wide) >= MIN_COLUMN_LINES
            and _is_column_of_text(before, width)
            and len(across) * 2 < len(before) + len(after)
        ):
            return Columns((at,), tuple(sorted(line.top for line in across)))
    return _many_columns(upright, width)


def _many_columns(lines: Sequence[StyledLine], width: float) -> Columns:
    """Return three or more columns of one width, each of which has many wide lines from its left edge; otherwise one
    column. Those of tables differ in width.
    """
    wide = Counter(round(line.left) for line in lines if line.right - line.left > MIN_COLUMN_SHARE * width)
    starts: list[float] = []
    for left in sorted(wide):
        near = wide[left - 1] + wide[left] + wide[left + 1]
        if near >= MIN_COLUMN_LINES and (not starts or left - starts[-1] > MIN_COLUMN_SHARE * width):
            starts.append(left)
    gutters = tuple(start - 3.0 for start in starts[1:])
    steps = [after - before for before, after in pairwise(starts)]
    if len(steps) < 2 or max(steps) - min(steps) > EQUAL_COLUMNS * max(steps):
        return Columns()
    columns = Columns(gutters)
    across = [line for line in lines if not columns.column_of(line)]
    if len(across) * 4 > len(lines):
        return Columns()
    return Columns(gutters, tuple(sorted(line.top for line in across)))


def _is_column_of_text(lines: Sequence[StyledLine], width: float) -> bool:
    return sum(line.right - line.left > 0.3 * width for line in lines) >= MIN_COLUMN_LINES


MIN_LINE_NUMBERS = 10
"""The minimum number of line numbers on a page, most of which must be one more than the one above."""


def without_line_numbers(lines: Sequence[StyledLine]) -> Sequence[StyledLine]:
    """Return the lines without the line numbers of a manuscript, which are in one style."""
    numbers = [line for line in lines if line.text.isdecimal() and len(line.text) <= 4]
    if len(numbers) < MIN_LINE_NUMBERS:
        return lines
    style, _ = Counter(map(font_of, numbers)).most_common(1)[0]
    numbers = sorted((line for line in numbers if font_of(line) == style), key=lambda line: line.top)
    steps = sum(int(above.text) + 1 == int(below.text) for above, below in pairwise(numbers))
    if steps + 1 < MIN_LINE_NUMBERS or 4 * steps < 3 * len(numbers):
        return lines
    left_out = set(map(id, numbers))
    return [line for line in lines if id(line) not in left_out]


LABEL_LIMIT = 40
"""The maximum number of separate numbers on a page that are joined to titles; a page with more usually contains a
table.
"""

EQUAL_SPACES = 0.1
"""The largest difference between the spaces of a justified line, as a multiple of the font size."""

WIDE_SPACE = 2.5
"""The widest space between two words of a justified heading, as a multiple of the font size."""

_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LETTER = re.compile(r"\(?(?:[a-z]|[ivx]+)[.)]")
_NUMBER_MARK = re.compile(r"(?<=\d) *([.:)])(?! *\d) *")


def font_of(line: StyledLine) -> tuple[str, float, bool]:
    """Return the font name, the size in points, and whether the line is bold."""
    return line.font, line.size, line.bold


def join_pieces(lines: Sequence[StyledLine], columns: Columns, large: float) -> list[StyledLine]:
    """Return the lines, and join pieces of a line that wide spaces separate if their font has at least `large` points,
    or if the spaces are equal, as in a justified line.
    """
    joined: list[StyledLine] = []
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _is_next_piece(lines[end - 1], lines[end], columns):
            end += 1
        if end - at > 1 and is_heading_number(lines[at].text):
            joined.append(lines[at])
            at += 1
        pieces = lines[at:end]
        if len(pieces) > 1 and (pieces[0].size >= large or _are_spaced_equally(pieces)):
            text = " ".join([piece.text for piece in pieces])
            joined.append(evolve(pieces[0], text=text, right=pieces[-1].right))
        else:
            joined += pieces
        at = end
    return joined


def _are_spaced_equally(pieces: Sequence[StyledLine]) -> bool:
    """Return whether a line in `pieces` has at least two spaces between them, all equal, unlike the row of a table."""
    if not all(any(map(str.isalpha, piece.text)) for piece in pieces):
        return False  # the numbers of an axis
    spaces = [other.left - one.right for one, other in pairwise(pieces)]
    return len(spaces) > 1 and max(spaces) - min(spaces) < EQUAL_SPACES * pieces[0].size


def _is_next_piece(one: StyledLine, other: StyledLine, columns: Columns) -> bool:
    """Return whether `other` continues `one` at the same height, in the same font and column."""
    level = abs(one.bottom - other.bottom) < 1 and one.block == other.block and font_of(one) == font_of(other)
    near = 0 <= other.left - one.right < WIDE_SPACE * one.size
    return level and near and not any(one.right <= gutter <= other.left for gutter in columns.gutters)


def join_numbers(lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return the lines, with each heading number that is a separate line joined to its heading.

    In the file, other lines may be between the two.
    """
    joined: list[StyledLine] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and _is_title_of(last, line):
            joined[-1] = _with_number(line, last)
        elif last is not None and is_heading_number(last.text) and _is_left_of(last, line):
            joined[-1] = evolve(line, text=_NUMBER_MARK.sub(r"\1 ", f"{last.text} {line.text}"), right=last.right)
        else:
            joined.append(line)
    return _join_distant_numbers(joined)


def _with_number(line: StyledLine, number: StyledLine) -> StyledLine:
    """Return `line` with the `number` on its left, with which its lead begins, too."""
    lead = line.lead and evolve(line.lead, text=f"{number.text} {line.lead.text}")
    return evolve(line, text=f"{number.text} {line.text}", left=number.left, lead=lead)


def _join_distant_numbers(lines: list[StyledLine]) -> list[StyledLine]:
    """Return the lines, with heading numbers joined to titles on their right in the same font."""
    labels = [at for at, line in enumerate(lines) if is_heading_number(line.text) or is_series_label(line.text)]
    if len(labels) > LABEL_LIMIT:
        return lines
    joined = dict(enumerate(lines))
    titles = set(joined).difference(labels)
    for at in labels:
        label = lines[at]
        beside = [
            each for each in titles if font_of(joined[each]) == font_of(label) and _is_title_of(label, joined[each])
        ]
        if beside:
            title = min(beside, key=lambda each: (joined[each].left, each))
            joined[title] = _with_number(joined[title], label)
            del joined[at]
    return list(joined.values())


def _is_title_of(label: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` is the title to the right of `label`.

    `label` must be a heading number, a label such as `ITEM 7A.` in the font of `line`, which is not a label itself, or a
    letter (`(a)`) before a line with a lead.
    """
    if line.lead is not None and _LETTER.fullmatch(label.text):
        return _is_right_of(label, line)
    named = font_of(label) == font_of(line) and is_series_label(label.text) and not is_series_label(line.text)
    return (named or is_heading_number(label.text)) and _is_right_of(label, line)


def _is_right_of(number: StyledLine, line: StyledLine) -> bool:
    level = abs(number.bottom - line.bottom) < line.size / 2
    return level and -1 <= line.left - number.right < 6 * line.size and abs(number.size - line.size) < 0.3 * line.size


def _is_left_of(number: StyledLine, line: StyledLine) -> bool:
    """Return whether `line` is a right-to-left heading (Hebrew, Arabic) directly to the left of its `number`."""
    level = abs(number.bottom - line.bottom) < line.size / 2 and abs(number.size - line.size) < 0.3 * line.size
    return level and -1 <= number.left - line.right < 6 * line.size and bool(_RIGHT_TO_LEFT.search(line.text))
