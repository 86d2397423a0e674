"""Decides which cells a workbook shows, by their styles and by merged cells (ECMA-376 part 1, 18.8 and 18.3.1.55)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field, frozen

from citekit.adapters.formats.shared.office_colors import BLACK, TINY, WHITE, Color, hex_color, is_near, tinted
from citekit.adapters.formats.xlsx.cells import NO_VALUE, MergedCells, Value
from citekit.adapters.libraries.office_package import below
from citekit.domain.errors import SourceUnsupported
from citekit.domain.locations import Cells
from citekit.domain.locations.cells import COLUMNS_LIMIT, ROWS_LIMIT

if TYPE_CHECKING:
    from lxml.etree import _Element

_THEME = ("lt1", "dk1", "lt2", "dk2", *(f"accent{number}" for number in range(1, 7)), "hlink", "folHlink")
"""The names of the colors of a theme in the order of their indexes (18.8.3)."""

_BASIC = "000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF"
_PALETTE = (
    f"{_BASIC} {_BASIC} 800000 008000 000080 808000 800080 008080 C0C0C0 808080 9999FF 993366 FFFFCC CCFFFF 660066 FF8080 "
    "0066CC CCCCFF 000080 FF00FF FFFF00 00FFFF 800080 800000 008080 0000FF 00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC "
    "CC99FF FFCC99 3366FF 33CCCC 99CC00 FFCC00 FF9900 FF6600 666699 969696 003366 339966 003300 333300 993300 993366 "
    "333399 333333"
).split()
"""The colors of the indexes 0 to 63 (18.8.27)."""


_Known = TypeVar("_Known")


@frozen
class CellStyle:
    """The style of cells: its number format (a built-in format is its ID in braces), and whether its text is legible
    and bold.

    `is_white` means that the background is white, so that the format `[White]` hides text.
    """

    code: str = "{0}"
    is_legible: bool = True
    is_white: bool = True
    is_bold: bool = False

    def shows(self, value: Value) -> bool:
        """Return whether a cell with this style shows its stored value."""
        if value.kind == NO_VALUE or not self.is_legible:
            return False
        if self.code.startswith("{") or value.kind == "e":
            return True
        format = _number_format(self.code)
        if value.kind != "n":
            return value.kind == "d" or format.shows_text(on_white=self.is_white)
        try:
            return format.shows(float(value.text), on_white=self.is_white)
        except ValueError:
            return True


@frozen
class _Section:
    """A section of a number format: what it shows, whether it is white, and its condition, if any."""

    shows_number: bool
    shows_text: bool
    is_blank: bool
    is_white: bool
    condition: tuple[str, float] | None


_COMPARE = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_SPLIT = re.compile(r'(?:"[^"]*"|\\.|[_*].|\[[^\]]*\]|[^;])*', re.DOTALL)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)\]")
_SPACE = re.compile(r'_.|\*\s|\[\$-[^\]]*\]|\[(?!\$|h+\]|m+\]|s+\])[^\]]*\]|""|\s|\\\s', re.IGNORECASE | re.DOTALL)
_LITERAL = re.compile(r'"[^"]*"|\\.|\*.|\[\$[^\]]*\]', re.DOTALL)
_HIDDEN_COLORS = re.compile(r"\[(?:white|color\s?2)\]", re.IGNORECASE)


@frozen
class _NumberFormat:
    """The sections of a number format for numbers, and its section for text, or None (18.8.31)."""

    numbers: Sequence[_Section]
    text: _Section | None

    def shows_text(self, *, on_white: bool) -> bool:
        return self.text is None or (self.text.shows_text and not (on_white and self.text.is_white))

    def shows(self, number: float, *, on_white: bool) -> bool:
        section = self._section(number)
        if section is None or (on_white and section.is_white):
            return False
        return section.shows_number or (not number and not section.is_blank)

    def _section(self, number: float) -> _Section | None:
        """Return the section for a number, or None for a row of `#` signs."""
        if not any(each.condition for each in self.numbers):
            place = 0 if len(self.numbers) < 2 or number > 0 else 1 if number < 0 else len(self.numbers) - 1
            return self.numbers[0 if not number and len(self.numbers) == 2 else place]
        for place, each in enumerate(self.numbers):
            if each.condition is not None:
                if _COMPARE[each.condition[0]](number, each.condition[1]):
                    return each
            elif place == len(self.numbers) - 1 or number < 0:
                return each
        return None


@lru_cache(1000)
def _number_format(code: str) -> _NumberFormat:
    pieces = [each[0] for each in _SPLIT.finditer(code) if each[0] or not each.start() or code[each.start() - 1] == ";"]
    sections = [_section(each) for each in pieces[:4]]
    has_text = len(sections) == 4 or (sections[-1].shows_text and not sections[-1].shows_number)
    return _NumberFormat(
        sections[:-1] if has_text and len(sections) > 1 else sections, sections[-1] if has_text else None
    )


def _section(code: str) -> _Section:
    found = _CONDITION.search(code)
    spaced = _SPACE.sub("", code)
    bare = _LITERAL.sub("", spaced)
    is_general = "general" in bare.lower()
    has_words = any(map(str.isalnum, "".join(_LITERAL.findall(spaced))))  # as in "not "@
    return _Section(
        shows_number=any(each in "0#?" or each.isalpha() for each in bare),
        shows_text=("@" in bare and not has_words) or is_general,
        is_blank=not spaced,
        is_white=bool(_HIDDEN_COLORS.search(code)),
        condition=(found[1], float(found[2])) if found else None,
    )


def cell_styles(root: _Element, theme: Mapping[str, Color]) -> list[CellStyle]:
    """Return the styles of a workbook, in order. `theme` contains the colors of its theme by name."""
    codes = {str(each.get("numFmtId")): str(each.get("formatCode") or "") for each in root.iter("{*}numFmt")}
    colors = _Colors(theme, [str(each.get("rgb") or "") for each in root.iterfind("{*}colors/{*}indexedColors/*")])
    fonts = [_font(each, colors) for each in root.iterfind("{*}fonts/{*}font")]
    fills = [_fill(each, colors) for each in root.iterfind("{*}fills/{*}fill")]
    found = []
    known: dict[tuple[str | None, str | None], tuple[bool, bool, bool]] = {}
    for each in root.iterfind("{*}cellXfs/{*}xf"):
        key = each.get("fontId"), each.get("fillId")
        if key not in known:
            ink, size, bold = _at(fonts, key[0], (BLACK, 11.0, False))
            behind = _at(fills, key[1], (WHITE,))
            legible = size > TINY and not all(is_near(ink, color) for color in behind)
            known[key] = legible, any(is_near(WHITE, color) for color in behind), bold
        number = _whole(each.get("numFmtId"))
        found.append(CellStyle(codes.get(str(number)) or f"{{{number}}}", *known[key]))
    return found


@frozen
class _Colors:
    theme: Mapping[str, Color]
    palette: Sequence[str]

    def read(self, element: _Element | None, default: Color) -> Color:
        """Return the color in the attributes of an element (18.8.19), or `default`."""
        if element is None or element.get("auto") in ("1", "true"):
            return default
        color = hex_color(element.get("rgb"))
        if element.get("theme") is not None:
            place = _whole(element.get("theme"))
            color = self.theme.get(_THEME[place]) if place < len(_THEME) else None
            color = color or (WHITE if place == 0 else BLACK if place == 1 else None)
        elif element.get("indexed") is not None:
            place = _whole(element.get("indexed"))
            palette = self.palette or _PALETTE
            color = hex_color(palette[place]) if place < len(palette) else WHITE if place == 65 else default
        try:
            return tinted(color, float(element.get("tint") or 0)) if color else default
        except ValueError:
            return color or default


def _font(element: _Element, colors: _Colors) -> tuple[Color, float, bool]:
    """Return the color of a font, its size in points, and whether it is bold."""
    size = element.find("{*}sz")
    try:
        points = 11.0 if size is None else float(size.get("val") or 11)
    except ValueError:
        points = 11.0
    bold = element.find("{*}b")
    is_bold = bold is not None and bold.get("val") not in ("0", "false")
    return colors.read(element.find("{*}color"), BLACK), points, is_bold


def _fill(element: _Element, colors: _Colors) -> tuple[Color, ...]:
    """Return the colors of a fill: white without a fill, and several for a pattern or gradient."""
    stops = tuple({colors.read(each, WHITE) for each in element.iterfind("{*}gradientFill/{*}stop/{*}color")})
    if stops:
        return stops
    pattern = next(below(element, "patternFill"), None)
    kind = "none" if pattern is None else str(pattern.get("patternType") or "none")
    if pattern is None or kind == "none":
        return (WHITE,)
    front, back = colors.read(pattern.find("{*}fgColor"), BLACK), colors.read(pattern.find("{*}bgColor"), WHITE)
    return (front,) if kind == "solid" else (front, back)


@define
class Merged:
    """The merged cells of a sheet, which is read row by row.

    `waiting` are the merged cells below the current row, and `open` those in it. `columns` are the ranges of columns in
    which the current row is merged into other cells. `seen` are the row and column of the first cell of all merged
    cells that are at least partly visible.
    """

    waiting: list[_Corners]
    seen: Collection[tuple[int, int]] = ()
    open: list[_Corners] = field(factory=list)
    columns: Sequence[tuple[int, int]] = ()
    _until: int = 0
    _work: int = 0

    @classmethod
    def of(cls, places: Sequence[Cells], found: MergedCells) -> Merged:
        """Return the merged cells at `places` of a worksheet. `found` has its hidden rows and columns."""
        corners = sorted({_corners(each) for each in places}, reverse=True)
        tall, wide = _Visible(found.is_flat, ROWS_LIMIT), _Visible(found.grid.is_narrow, COLUMNS_LIMIT)
        seen = {
            (top, left)
            for top, left, bottom, right in corners
            if tall.has_any(top, bottom) and wide.has_any(left, right)
        }
        return cls(corners, seen)

    def apply(self, value: Value) -> None:
        """Set `hidden` of `value`: to true if its cell is merged into another one, and to `withheld` if its cell is the
        first of merged cells that are at least partly visible. Otherwise, leave it unchanged.

        Values must be passed in ascending order of rows. Raise `SourceUnsupported` if there are too many merged cells.
        """
        if (value.row, value.column) in self.seen:
            value.hidden = value.withheld
        elif any(left <= value.column <= right for left, right in self._swallowed(value.row)):
            value.hidden = True

    def _swallowed(self, row: int) -> Sequence[tuple[int, int]]:
        """Return the ranges of columns in row number `row` that are merged into other cells, in order."""
        if row < self._until and not (self.waiting and self.waiting[-1][0] <= row):
            return self.columns
        while self.waiting and self.waiting[-1][0] <= row:
            self.open.append(self.waiting.pop())
        self._work += len(self.open)
        if self._work > MERGES_WORK:
            raise SourceUnsupported(
                "The workbook was not read, because it has too many merged cells, or they span too many rows. Unmerge some "
                "of them."
            )
        self.open = [each for each in self.open if each[2] >= row]
        columns: list[tuple[int, int]] = []
        for left, right in sorted((left + (top == row), right) for top, left, _, right in self.open):
            if columns and left <= columns[-1][1] + 1:
                columns[-1] = columns[-1][0], max(right, columns[-1][1])
            elif left <= right:
                columns.append((left, right))
        self.columns = columns
        begins = any(top == row for top, *_ in self.open)
        self._until = row + 1 if begins else min((bottom + 1 for _, _, bottom, _ in self.open), default=row + 1)
        return self.columns


_Corners = tuple[int, int, int, int]
"""The first row and column, and the last row and column, of merged cells."""

MERGES_WORK = 3_000_000
"""Maximum number of checks of merged cells, added up over the rows of a sheet."""


@define
class _Visible:
    """Determines whether a range of rows, or of columns, has a visible one."""

    is_hidden: Callable[[int], bool]
    limit: int
    _next: dict[int, int] = field(factory=dict)

    def has_any(self, first: int, last: int) -> bool:
        passed, number = [], first
        while number <= min(last, self.limit) and (number in self._next or self.is_hidden(number)):
            passed.append(number)
            number = self._next.get(number, number + 1)
        self._next.update(dict.fromkeys(passed, number))
        return number <= min(last, self.limit)


def _corners(place: Cells) -> _Corners:
    return (*(place.first or (1, 1)), *(place.last or (1, 1)))


def _at(known: Sequence[_Known], place: str | None, default: _Known) -> _Known:
    number = _whole(place)
    return known[number] if number < len(known) else default


def _whole(text: str | None) -> int:
    return int(text) if text and len(text) < 6 and text.isascii() and text.isdigit() else 0
