"""What a workbook says of itself (ECMA-376 part 1, 18.2): sheets, tables, names, charts, and how values are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from citekit.adapters.drivers.office_package import OfficePackage, attribute, below, local
from citekit.adapters.drivers.sheet_cells import Value, shared_strings, values
from citekit.domain.errors import LocationMalformed, SourceUnsupported
from citekit.domain.locations import Cells

if TYPE_CHECKING:
    from lxml.etree import _Element

SHEETS_LIMIT = 2000
NAMES_LIMIT = 2000
"""Sheets, and names of ranges, of one workbook that are read."""

STRINGS_PART_LIMIT = 256 * 1024 * 1024
"""Bytes of the shared strings."""

_AREA = re.compile(r"(?:'((?:[^']|'')+)'|([^'!\[\]]+))!(\$?[A-Za-z]{1,3}\$?\d{1,7}(?::\$?[A-Za-z]{1,3}\$?\d{1,7})?)")
_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)))
"""Built-in number formats that show dates and times (18.8.30, with those of East Asian locales)."""

_QUIET = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DAY = re.compile(r"[dyhs]|m", re.IGNORECASE)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


@frozen
class Sheet:
    """A sheet: `part` is where it lies, `state` is `visible`, `hidden` or `veryHidden`; charts have sheets without cells."""

    name: str
    part: str
    state: str
    has_cells: bool


@define
class Workbook:
    """The workbook in a package, open while its cells are read. Raises `SourceUnsupported`."""

    package: OfficePackage
    sheets: list[Sheet]
    main: str
    _root: _Element
    _strings: list[str] | None = None
    _formats: list[str] | None = None
    epoch: datetime = field(default=datetime(1899, 12, 30))

    @classmethod
    def of(cls, package: OfficePackage) -> Workbook:
        """The workbook that the package holds."""
        main, root = package.main("workbook")
        parts = {each.id: each for each in package.relations(main) if not each.outside}
        sheets = []
        for group in below(root, "sheets"):
            for each in below(group, "sheet"):
                relation = parts.get(_reference(each))
                name = unescaped(str(each.get("name") or ""))
                if relation is not None and _is_name(name):
                    state = str(each.get("state") or "visible")
                    sheets.append(Sheet(name, relation.target, state, relation.kind == "worksheet"))
        if not sheets or len(sheets) > SHEETS_LIMIT:
            raise SourceUnsupported(
                f"{package.path.name} is a workbook of {len(sheets)} sheets: nothing can be mapped."
            )
        workbook = cls(package, sheets, main, root)
        if any(attribute(each, "date1904") in ("1", "true") for each in below(root, "workbookPr")):
            workbook.epoch = datetime(1904, 1, 1)
        return workbook

    def sheet(self, name: str) -> Sheet | None:
        """The sheet of that name."""
        return next((sheet for sheet in self.sheets if sheet.name == name), None)

    def values(self, sheet: Sheet, seen: Callable[[str, dict[str, str]], None] | None = None) -> Iterator[Value]:
        """The cells with a value, in the order of the file; see `sheet_cells.values`."""
        if not sheet.has_cells:
            return iter(())
        name = f"{self.package.path.name} ({sheet.part})"
        return values(self.package.stream(sheet.part), name, seen)

    def shown(self, value: Value) -> str:
        """A value as text: numbers in full, dates and times as ISO 8601 says, `TRUE` and `FALSE`."""
        match value.kind:
            case "s":
                number = (
                    int(value.text) if value.text.isascii() and value.text.isdigit() and len(value.text) < 10 else -1
                )
                return unescaped(self.strings[number]) if 0 <= number < len(self.strings) else ""
            case "b":
                return "TRUE" if value.text.strip() in ("1", "true") else "FALSE"
            case "n":
                return self._number(value)
        return unescaped(value.text)

    def is_date(self, value: Value) -> bool:
        """Whether a number is shown as a date or time."""
        return value.kind == "n" and is_date_format(self.format_of(value.style))

    def format_of(self, style: int) -> str:
        """The number format of a style, as the codes of formats are written; the id in brackets where it is built in."""
        return self.formats[style] if style < len(self.formats) else "{0}"

    @property
    def strings(self) -> list[str]:
        """The shared strings, read once."""
        if self._strings is None:
            part = self._part("sharedStrings")
            name = f"{self.package.path.name} ({part})"
            self._strings = [] if part is None else shared_strings(self.package.stream(part, STRINGS_PART_LIMIT), name)
        return self._strings

    @property
    def formats(self) -> list[str]:
        """The number format of every style, in order."""
        if self._formats is None:
            part = self._part("styles")
            self._formats = [] if part is None else _formats(self.package.root(part))
        return self._formats

    def tables(self, sheet: Sheet) -> list[tuple[str, Cells]]:
        """(name, place) of the tables that are defined on a sheet (18.5)."""
        found = []
        for relation in self.package.relations(sheet.part):
            if relation.kind == "table" and not relation.outside:
                root = self.package.root(relation.target)
                place = _cells(sheet.name, str(root.get("ref") or ""))
                if place is not None:
                    found.append((str(root.get("displayName") or root.get("name") or "Table"), place))
        return found

    def names(self) -> list[tuple[str, Cells]]:
        """(name, place) of the named ranges that are one area of one sheet, hidden and built-in ones left out (18.2.5)."""
        found = []
        for group in below(self._root, "definedNames"):
            for each in list(below(group, "definedName"))[:NAMES_LIMIT]:
                name = str(each.get("name") or "")
                place = area(each.text or "")
                if place is not None and not name.startswith("_") and each.get("hidden") not in ("1", "true"):
                    found.append((name, place))
        return found

    def charts(self, sheet: Sheet) -> list[tuple[str, list[Cells]]]:
        """(title, areas of its data) of the charts on a sheet."""
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

    def _number(self, value: Value) -> str:
        try:
            number = float(value.text)
        except ValueError:
            return value.text
        if not math.isfinite(number):
            return value.text
        if self.is_date(value):
            return self._moment(number) or plain_number(number)
        return plain_number(number)

    def _moment(self, number: float) -> str | None:
        """A serial number as a date, a time of day, or both (18.17.4); None outside the years 1900 to 9999."""
        if self.epoch.year == 1899 and number < 60 and number >= 1:
            number += 1  # the 29th of February 1900, which never was, is number 60
        try:
            moment = self.epoch + timedelta(seconds=round(number * 86400))
        except (OverflowError, ValueError):
            return None
        if number < 0:
            return None
        if number < 1:
            return moment.strftime("%H:%M:%S")
        return moment.strftime("%Y-%m-%d") if number == int(number) else moment.strftime("%Y-%m-%dT%H:%M:%S")


def plain_number(number: float) -> str:
    """A number as it is entered: whole ones without a point, others with the 15 digits that Excel keeps."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else f"{number:.15g}"


def is_date_format(code: str) -> bool:
    """Whether a number format shows a date or a time."""
    if code.startswith("{"):
        return int(code[1:-1]) in _DATES
    return bool(_DAY.search(_QUIET.sub("", code.partition(";")[0]))) and "general" not in code.lower()


def unescaped(text: str) -> str:
    """Text with the characters that are written as `_x000D_` (22.9.2.19)."""
    return _ESCAPED.sub(lambda found: _character(int(found[1], 16), found[0]), text) if "_x" in text else text


def area(formula: str) -> Cells | None:
    """The one area that a reference such as `'Q1 Plan'!$A$1:$F$20` names; None for anything else."""
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


def _character(code: int, written: str) -> str:
    return written if 0xD800 <= code <= 0xDFFF else chr(code)


def _reference(element: _Element) -> str:
    return next((str(value) for key, value in element.items() if str(key).endswith("}id")), "")


def _formats(root: _Element) -> list[str]:
    codes = {str(each.get("numFmtId")): str(each.get("formatCode") or "") for each in root.iter("{*}numFmt")}
    found = []
    for group in below(root, "cellXfs"):
        for each in below(group, "xf"):
            number = str(each.get("numFmtId") or "0")
            known = number if number.isascii() and number.isdigit() and len(number) < 6 else "0"
            found.append(codes.get(number) or f"{{{known}}}")
    return found


def _chart_title(root: _Element) -> str:
    title = next((each for each in root.iter("{*}title")), None)
    parent = None if title is None else title.getparent()
    if title is None or parent is None or local(parent) != "chart":
        return ""
    return " ".join("".join(str(each.text or "") for each in title.iter("{*}t")).split())
