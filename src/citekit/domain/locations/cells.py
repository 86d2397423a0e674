"""Defines the location of cells in a workbook: a whole sheet or a rectangle on it."""

from __future__ import annotations

import re
from typing import ClassVar, Self

from attrs import evolve, field, frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.modality import HasModality, Modality

ROWS_LIMIT = 1_048_576
COLUMNS_LIMIT = 16_384
"""Maximum numbers of rows and columns of a sheet (Excel specifications and limits; ECMA-376 part 1, 18.18.7)."""

SHEET_LIMIT = 255
"""Maximum number of characters of a sheet name. Excel itself allows 31."""

_NAMED = 20
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})", re.ASCII)
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")

Cell = tuple[int, int]
"""(row, column), both from 1."""


def _pair(value: Cell | list[int] | None) -> Cell | None:
    if value is None:
        return None
    row, column = value
    return row, column


@frozen
class Cells:
    """A rectangle of cells on the sheet `sheet`, from `first` to `last` (both included), or the whole sheet.

    A cell is (row, column), from (1, 1) to (`ROWS_LIMIT`, `COLUMNS_LIMIT`). `last` defaults to `first`; if both are
    None, the location is the whole sheet. The constructor raises `LocationMalformed` for invalid values.
    """

    modality: ClassVar[Modality] = Modality.DOCUMENT

    sheet: str
    first: Cell | None = field(default=None, converter=_pair)
    last: Cell | None = field(converter=_pair)

    @last.default
    def _single(self) -> Cell | None:
        return self.first

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.sheet, str) or not 0 < len(self.sheet) <= SHEET_LIMIT or _CONTROL.search(self.sheet):
            raise LocationMalformed(
                f"the name of a sheet must have 1 to {SHEET_LIMIT} characters, without control characters"
            )
        if self.first is None or self.last is None:
            if self.first != self.last:
                raise LocationMalformed("a cell range must have both a first and a last cell")
            return
        for cell in (self.first, self.last):
            _check(cell)
        if self.last[0] < self.first[0] or self.last[1] < self.first[1]:
            raise LocationMalformed(f"the cell range {self.range} is reversed; write the upper left cell first")

    @classmethod
    def read(cls, sheet: str, cells: str | None = None) -> Self:
        """Parse a range of cells on a sheet, such as `A1:F20`, `B2`, or `$a$1:$f$20`. None means the whole sheet.

        A range is any two opposite corners. Raise `LocationMalformed` if the sheet name or the range is not valid.
        """
        if cells is None:
            return cls(sheet)
        start, colon, end = cells.partition(":")
        one, other = cell_named(start), cell_named(end if colon else start)
        (top, bottom), (left, right) = (sorted(pair) for pair in zip(one, other, strict=True))
        return cls(sheet, (top, left), (bottom, right))

    @property
    def range(self) -> str | None:
        """The range in spreadsheet notation (`A1:F20`, or `B2` for one cell), or None for the whole sheet."""
        if self.first is None or self.last is None:
            return None
        return cell_name(self.first) if self.first == self.last else f"{cell_name(self.first)}:{cell_name(self.last)}"

    def contains(self, other: HasModality) -> bool:
        """Return whether `other` is a range of cells inside this one."""
        if not isinstance(other, Cells) or other.sheet != self.sheet:
            return False
        if self.first is None or self.last is None:
            return True
        if other.first is None or other.last is None:
            return False
        return all(map(_not_after, self.first, other.first)) and all(map(_not_after, other.last, self.last))

    def overlaps(self, other: HasModality) -> bool:
        """Return whether this range and `other` have a cell in common."""
        if not isinstance(other, Cells) or other.sheet != self.sheet:
            return False
        if self.first is None or self.last is None or other.first is None or other.last is None:
            return True
        return all(map(_not_after, self.first, other.last)) and all(map(_not_after, other.first, self.last))

    def clamp(self, extent: Extent) -> Cells:
        """Return this range, limited to the part of the sheet that is in use, if known.

        Raise `LocationOutside` if the sheet does not exist or none of the cells is in the used part.
        """
        if extent.sheets is None:
            return self
        sizes = {name: (rows, columns) for name, rows, columns in extent.sheets}
        if self.sheet not in sizes:
            shown = ", ".join(repr(name) for name in list(sizes)[:_NAMED]) + (", ..." if len(sizes) > _NAMED else "")
            raise LocationOutside(f"there is no sheet {self.sheet!r}; the workbook has these sheets: {shown or 'none'}")
        if self.first is None or self.last is None:
            return self
        rows, columns = sizes[self.sheet]
        if self.first[0] > rows or self.first[1] > columns:
            used = f"ends at {cell_name((rows, columns))}" if rows and columns else "is empty"
            raise LocationOutside(f"cell {cell_name(self.first)} is beyond the end: the sheet {self.sheet!r} {used}")
        last = min(self.last[0], rows), min(self.last[1], columns)
        return self if last == self.last else evolve(self, last=last)


def cell_name(cell: Cell) -> str:
    """Return the name of the cell (row, column), such as `B3` for (3, 2)."""
    return f"{column_name(cell[1])}{cell[0]}"


def column_name(column: int) -> str:
    """Return the letters of a column number, such as `A` for 1 and `AA` for 27."""
    letters = ""
    while column > 0:
        column, digit = divmod(column - 1, 26)
        letters = chr(65 + digit) + letters
    return letters


def cell_named(text: str) -> Cell:
    """Return the (row, column) of a cell name, such as (3, 2) for `B3`, `b3`, or `$B$3`.

    Raise `LocationMalformed` for any other text.
    """
    parts = _CELL.fullmatch(text.strip())
    if not parts:
        raise LocationMalformed(f"{text[:40]!r} is not a cell; write a cell such as B3, or a range such as A1:F20")
    column = 0
    for letter in parts[1].upper():
        column = column * 26 + ord(letter) - 64
    return int(parts[2]), column


def _check(cell: Cell) -> None:
    if any(not isinstance(number, int) or isinstance(number, bool) for number in cell):
        raise LocationMalformed(f"rows and columns must be whole numbers, not {cell}")
    if not (1 <= cell[0] <= ROWS_LIMIT and 1 <= cell[1] <= COLUMNS_LIMIT):
        raise LocationMalformed(
            f"cells must be from A1 to {cell_name((ROWS_LIMIT, COLUMNS_LIMIT))}, not row {cell[0]}, column {cell[1]}"
        )


def _not_after(one: int, other: int) -> bool:
    return one <= other
