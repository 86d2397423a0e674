"""Reads the structure of a workbook (ECMA-376 part 1, 18.2): sheets, tables, names, charts, and formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from citekit.adapters.formats.shared.office_colors import theme_colors
from citekit.adapters.formats.xlsx.cells import Allowance, Value, merged_cells, shared_strings, values
from citekit.adapters.formats.xlsx.values import EPOCH, EPOCH_1904, shown_number, unescaped
from citekit.adapters.formats.xlsx.visibility import CellStyle, Merged, cell_styles
from citekit.adapters.libraries.office_package import OfficePackage, attribute, below, local, reference
from citekit.domain.errors import LocationMalformed, SourceUnsupported
from citekit.domain.locations import Cells

if TYPE_CHECKING:
    from lxml.etree import _Element

SHEETS_LIMIT = 2000
NAMES_LIMIT = 2000
"""Maximum number of sheets and of named ranges in a workbook."""

STRINGS_PART_LIMIT = 256 * 1024 * 1024
"""Maximum number of bytes of the shared-strings part."""

_AREA = re.compile(r"(?:'((?:[^']|'')+)'|([^'!\[\]]+))!(\$?[A-Za-z]{1,3}\$?\d{1,7}(?::\$?[A-Za-z]{1,3}\$?\d{1,7})?)")


@frozen
class Sheet:
    """A sheet of a workbook. `state` is `visible`, `hidden`, or `veryHidden`. Only the cells of worksheets are read."""

    name: str
    part: str
    state: str
    has_cells: bool
    is_chart: bool


@frozen
class Table:
    """A table that the workbook defines on a sheet. Without a header row, `columns` is empty."""

    name: str
    place: Cells
    columns: tuple[str, ...]


LONG_STRING = 250
"""Maximum number of characters of a shared string whose use is not deducted from the allowance."""


@define
class Workbook:
    """A workbook in an open package. Its methods raise `SourceUnsupported` if the workbook is damaged or too large."""

    package: OfficePackage
    sheets: list[Sheet]
    main: str
    _root: _Element
    _strings: list[str] | None = None
    _styles: list[CellStyle] | None = None
    epoch: datetime = field(default=EPOCH)
    _allowance: Allowance = field(init=False)

    @_allowance.default
    def _whole_allowance(self) -> Allowance:
        return Allowance.of(self.package.path.name, self.package.path.stat().st_size)

    @classmethod
    def of(cls, package: OfficePackage) -> Workbook:
        """Return the workbook in `package`. Raise `SourceUnsupported` if it has no sheets or more than `SHEETS_LIMIT`."""
        main, root = package.main("workbook")
        parts = {each.id: each for each in package.relations(main) if not each.outside}
        views = [str(each.get("visibility") or "visible") for each in root.iterfind("{*}bookViews/{*}workbookView")]
        window = "visible" if "visible" in views or not views else "hidden"
        sheets = []
        for group in below(root, "sheets"):
            for each in below(group, "sheet"):
                relation = parts.get(reference(each))
                name = unescaped(str(each.get("name") or ""))
                if relation is not None and _is_name(name):
                    state = str(each.get("state") or window)
                    sheets.append(
                        Sheet(name, relation.target, state, relation.kind == "worksheet", relation.kind == "chartsheet")
                    )
        if not sheets or len(sheets) > SHEETS_LIMIT:
            raise SourceUnsupported(
                f"{package.path.name} has {len(sheets) or 'no usable'} sheets. CiteKit reads workbooks with 1 to "
                f"{SHEETS_LIMIT} sheets."
            )
        workbook = cls(package, sheets, main, root)
        if any(attribute(each, "date1904") in ("1", "true") for each in below(root, "workbookPr")):
            workbook.epoch = EPOCH_1904
        return workbook

    def sheet(self, name: str) -> Sheet | None:
        """Return the sheet named `name`, or None."""
        return next((sheet for sheet in self.sheets if sheet.name == name), None)

    def values(self, sheet: Sheet, seen: Callable[[str, dict[str, str]], None] | None = None) -> Iterator[Value]:
        """Yield the cells of `sheet` that have a value or a formula, in file order; see `cells.values`."""
        if not sheet.has_cells:
            return iter(())
        name = f"{self.package.path.name} ({sheet.part})"
        return values(self.package.stream(sheet.part), name, seen, self._allowance, hidden=sheet.state != "visible")

    def shown(self, value: Value) -> str:
        """Return a cell value as text: numbers in full, dates and times as ISO 8601, Booleans as `TRUE` and `FALSE`.

        Raise `SourceUnsupported` if cells repeat long shared strings implausibly often.
        """
        match value.kind:
            case "s":
                number = (
                    int(value.text) if value.text.isascii() and value.text.isdigit() and len(value.text) < 10 else -1
                )
                text = self.strings[number] if 0 <= number < len(self.strings) else ""
                if len(text) > LONG_STRING:
                    self._allowance.take(0, len(text))
                return unescaped(text)
            case "b":
                return "TRUE" if value.text.strip() in ("1", "true") else "FALSE"
            case "n":
                return shown_number(value.text, self.format_of(value.style), self.epoch)
        return unescaped(value.text)

    def format_of(self, style: int) -> str:
        """Return the number format code of the style with index `style`; a built-in format is its ID in braces."""
        return self._style(style).code

    def is_shown(self, value: Value) -> bool:
        """Return whether the workbook shows the value of a cell. Merged cells count only after `Merged.apply`."""
        return not value.hidden and self._style(value.style).shows(value)

    def is_bold(self, value: Value) -> bool:
        """Return whether the style of a cell is bold."""
        return self._style(value.style).is_bold

    def merged(self, sheet: Sheet) -> Merged:
        """Return the merged cells of a sheet, or none if the sheet is hidden."""
        visible = sheet.has_cells and sheet.state == "visible"
        if not visible or not any(map(_may_merge, _overlapping(self.package.stream(sheet.part)))):
            return Merged([])
        name = f"{self.package.path.name} ({sheet.part})"
        found = merged_cells(self.package.stream(sheet.part), name, self._whole_allowance())
        places = [place for each in found.found if (place := _cells(sheet.name, each)) is not None]
        return Merged.of(places, found)

    def _style(self, number: int) -> CellStyle:
        return self.styles[number] if number < len(self.styles) else CellStyle()

    @property
    def strings(self) -> list[str]:
        """The shared strings of the workbook, which are read on first use."""
        if self._strings is None:
            part = self._part("sharedStrings")
            name = f"{self.package.path.name} ({part})"
            self._strings = [] if part is None else self._shared(part, name)
        return self._strings

    def _shared(self, part: str, name: str) -> list[str]:
        return shared_strings(self.package.stream(part, STRINGS_PART_LIMIT), name, self._allowance)

    @property
    def styles(self) -> list[CellStyle]:
        """All cell styles, in order, which are read on first use."""
        if self._styles is None:
            part = self._part("styles")
            theme = theme_colors(self.package, self.main)
            self._styles = [] if part is None else cell_styles(self.package.root(part), theme)
        return self._styles

    def tables(self, sheet: Sheet) -> list[Table]:
        """Return the tables that are defined on `sheet` (ECMA-376 part 1, 18.5)."""
        relations = (each for each in self.package.relations(sheet.part) if each.kind == "table" and not each.outside)
        found = (_table(sheet.name, self.package.root(each.target)) for each in relations)
        return [each for each in found if each is not None]

    def names(self) -> list[tuple[str, Cells]]:
        """Return the name and location of each named range that is a single area of a sheet (ECMA-376 part 1, 18.2.5).

        Hidden names and names that begin with `_` are left out.
        """
        found = []
        for group in below(self._root, "definedNames"):
            for each in list(below(group, "definedName"))[:NAMES_LIMIT]:
                name = str(each.get("name") or "")
                place = area(each.text or "")
                if place is not None and not name.startswith("_") and each.get("hidden") not in ("1", "true"):
                    found.append((name, place))
        return found

    def charts(self, sheet: Sheet) -> list[tuple[str, list[Cells]]]:
        """Return the title, or "", and the data areas of each chart on a sheet."""
        found = []
        for drawing in self.package.relations(sheet.part):
            if drawing.kind == "drawing" and not drawing.outside:
                for chart in self.package.relations(drawing.target):
                    if chart.kind == "chart" and not chart.outside:
                        root = self.package.root(chart.target)
                        areas = [area(each.text or "") for each in root.iter("{*}f")]
                        found.append((_chart_title(root), [each for each in areas if each is not None]))
        return found

    def _part(self, kind: str) -> str | None:
        return next(
            (each.target for each in self.package.relations(self.main) if each.kind == kind and not each.outside), None
        )


def _may_merge(piece: bytes) -> bool:
    """Return whether a piece of a worksheet may list merged cells; True for UTF-16, which cannot be searched."""
    return b"mergeCell" in piece or b"\0" in piece


def _overlapping(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces, each with the end of the previous one."""
    before = b""
    for piece in pieces:
        yield before + piece
        before = piece[-8:]


def _table(sheet: str, root: _Element) -> Table | None:
    location = _cells(sheet, str(root.get("ref") or ""))
    if location is None:
        return None
    columns: tuple[str, ...] = ()
    if root.get("headerRowCount") != "0":
        groups = list(below(root, "tableColumns"))[:1]
        names = (str(each.get("name") or "") for group in groups for each in below(group, "tableColumn"))
        columns = tuple(" ".join(unescaped(name).split()) for name in names)
    return Table(str(root.get("displayName") or root.get("name") or "Table"), location, columns)


def area(formula: str) -> Cells | None:
    """Return the cells of a reference to one area, such as `'Q1 Plan'!$A$1:$F$20`; None for any other formula."""
    found = _AREA.fullmatch(formula.strip().removeprefix("="))
    if not found:
        return None
    return _cells((found[1] or "").replace("''", "'") or found[2], found[3])


def _cells(sheet: str, reference: str) -> Cells | None:
    try:
        return Cells.read(sheet, reference)
    except LocationMalformed:
        return None


def _is_name(name: str) -> bool:
    try:
        return bool(Cells(name))
    except LocationMalformed:
        return False


def _chart_title(root: _Element) -> str:
    title = next((each for each in root.iter("{*}title")), None)
    parent = None if title is None else title.getparent()
    if title is None or parent is None or local(parent) != "chart":
        return ""
    return " ".join("".join(str(each.text or "") for each in title.iter("{*}t")).split())
