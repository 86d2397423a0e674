"""Extracts cells of a workbook as a small workbook, CSV (the text form), or an HTML table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from attrs import define, field, frozen

from citekit.adapters.formats.xhtml.chapter_html import POLICY
from citekit.adapters.formats.xlsx.cells import NO_VALUE, Value
from citekit.adapters.formats.xlsx.small_workbook import Layout, write_workbook
from citekit.adapters.formats.xlsx.workbook import Sheet, Workbook
from citekit.adapters.libraries.office_package import opened_package
from citekit.adapters.system.files import writing
from citekit.domain.errors import FormUnsupported, LocationOutside
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Cells, Location
from citekit.domain.locations.cells import COLUMNS_LIMIT, ROWS_LIMIT, cell_name, column_name
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

SIZE_LIMIT = 256 * 1024 * 1024
"""Maximum number of characters in one CSV or HTML file."""

MERGES_LIMIT = 8 * 1024 * 1024
"""The maximum size in bytes of a sheet that is read to its end, where the merged cells are listed."""

_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20\t\r\n-]|.*[;\t][=+@\uff1d\uff0b\uff20]", re.DOTALL)
"""Matches text that a spreadsheet program may run as a formula (OWASP, CSV Injection)."""

_SIGNED = re.compile(r"[-+][\s\d.,%()/:'$\u20ac\xa3\xa5-]*")
"""Matches signed numbers, amounts, and dates, which are harmless."""

_APOSTROPHES = (
    "An apostrophe was added before each text that a spreadsheet program could run as a formula ({count} in total)."
)

_FORMS = (Form.NATIVE, Form.TEXT, Form.HTML)
_NO_VALUES = "Formulas without a stored value appear as text ({count} in total)."
_FORMULAS = "Formulas are replaced by the values stored in the workbook."
_STYLE = "table{border-collapse:collapse}td,th{border:1px solid #999;padding:2px 6px;text-align:left}"


@frozen
class CellsExtractor:
    """An extractor of cells as a workbook with the same cell addresses (NATIVE), as CSV (TEXT), or as an HTML table
    (HTML).
    """

    identity = ExtractorIdentity("office-cells", "4")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """Return NATIVE (XLSX), TEXT (CSV), and HTML for cells of a workbook, and no forms for anything else."""
        return _FORMS if format.name == "xlsx" and isinstance(location, Cells) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """See `Extractor.extract`."""
        if not isinstance(location, Cells) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(
                f"Cells are available in the forms native, text, and html, but not {options.form.value}."
            )
        progress(0, 1, "reading cells")
        with opened_package(source.path) as package:
            workbook = Workbook.of(package)
            cut = _Cut(workbook, _sheet(workbook, location), location)
            match options.form:
                case Form.TEXT:
                    cut.write(_csv(cut), target)
                    suffix, kind = ".csv", "text/csv; charset=utf-8"
                case Form.HTML:
                    cut.write(_html(cut), target)
                    suffix, kind = ".html", "text/html"
                case _:
                    write_workbook(workbook, cut.sheet.name, cut.layout, cut.values(), target)
                    suffix, kind = ".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            cut.check()
        return Extraction(suffix=suffix, media_type=kind, extent=location, notes=cut.notes())


def _sheet(workbook: Workbook, location: Cells) -> Sheet:
    sheet = workbook.sheet(location.sheet)
    if sheet is None:
        raise LocationOutside(f"there is no sheet {location.sheet!r} in {workbook.package.path.name}")
    if not sheet.has_cells and not sheet.is_chart:
        raise FormUnsupported(
            f"The sheet {sheet.name!r} is not a worksheet; only the cells of worksheets can be extracted."
        )
    if not sheet.has_cells:
        raise FormUnsupported(
            f"The sheet {sheet.name!r} is a chart sheet without cells; use the sheet that contains its data."
        )
    return sheet


EMPTY_LIMIT = 20_000_000
"""Maximum number of empty cells in CSV."""


@define
class _Cut:
    """The cells within a location on a sheet.

    After they are read, `rows` and `columns` are the extent of the part of the sheet that was read, and `formulas`,
    `without_value`, and `apostrophes` count cells for the notes.
    """

    workbook: Workbook
    sheet: Sheet
    location: Cells
    rows: int = 0
    columns: int = 0
    formulas: int = 0
    without_value: int = 0
    apostrophes: int = 0
    layout: Layout = field(factory=Layout)

    @property
    def corners(self) -> tuple[int, int, int, int]:
        """The top row, left column, bottom row, and right column; for a whole sheet, the largest possible ones."""
        place = self.location
        if place.first is None or place.last is None:
            return 1, 1, ROWS_LIMIT, COLUMNS_LIMIT
        return (*place.first, *place.last)

    def values(self) -> Iterator[Value]:
        """Yield the cells with a value within the location. Small sheets are read to the end, for merged cells."""
        top, left, bottom, right = self.corners
        large = self.workbook.package.size(self.sheet.part) > MERGES_LIMIT
        for value in self.workbook.values(self.sheet, self.layout.see):
            self.rows, self.columns = max(self.rows, value.row), max(self.columns, value.column)
            if top <= value.row <= bottom and left <= value.column <= right:
                self.formulas += value.formula
                self.without_value += value.kind == NO_VALUE
                yield value
            elif large and value.row > bottom and self.columns >= right:
                break
        self.layout.keep(top, left, bottom, right)

    def by_row(self) -> Iterator[tuple[int, dict[int, str]]]:
        """Yield the number of each row with a value, and its displayed texts by column."""
        now = 0
        row: dict[int, str] = {}
        for value in self.values():
            if value.row != now and row:
                yield now, row
                row = {}
            now = value.row
            row[value.column] = self.workbook.shown(value)
        if row:
            yield now, row

    def inert(self, text: str) -> str:
        """Return the text of a cell for CSV, with an apostrophe before what may be a formula."""
        if not _FORMULA.match(text) or _SIGNED.fullmatch(text):
            return text
        self.apostrophes += 1
        return f"'{text}"

    def check(self) -> None:
        """Raise `LocationOutside` if the location extends beyond the cells in use."""
        last = self.location.last
        if last is not None and (last[0] > self.rows or last[1] > self.columns):
            used = f"ends at {cell_name((self.rows, self.columns))}" if self.rows else "is empty"
            raise LocationOutside(f"cell {cell_name(last)} is beyond the end: the sheet {self.sheet.name!r} {used}")

    def notes(self) -> tuple[str, ...]:
        """Return notes about differences between the extracted cells and the source."""
        computed = (_FORMULAS,) if self.formulas > self.without_value else ()
        missing = (_NO_VALUES.format(count=self.without_value),) if self.without_value else ()
        return (*computed, *missing, *((_APOSTROPHES.format(count=self.apostrophes),) if self.apostrophes else ()))

    def write(self, lines: Iterator[str], target: Path) -> None:
        """Write the lines to `target`.

        Raise `FormUnsupported` if they exceed `SIZE_LIMIT`, or `HomeUnwritable` if they cannot be written.
        """
        size = 0
        with writing(target), target.open("xb") as out:
            for line in lines:
                size += len(line)
                if size > SIZE_LIMIT:
                    raise FormUnsupported(
                        f"These cells produce more than {SIZE_LIMIT >> 20} million characters; request fewer cells."
                    )
                out.write(line.encode("utf-8", "replace"))


def _csv(cut: _Cut) -> Iterator[str]:
    """Yield CSV records (RFC 4180) for the rows of the location, from its first column on, including empty rows.

    Raise `FormUnsupported` if there are more than `EMPTY_LIMIT` empty cells.
    """
    top, left, bottom, right = cut.corners
    whole = cut.location.first is None
    at, empty = top, 0
    for row, values in cut.by_row():
        yield "\r\n" * (row - at)
        at = row + 1
        last = max(values) if whole else right
        empty += last + 1 - left - len(values)
        if empty > EMPTY_LIMIT:
            raise FormUnsupported(
                f"There are more than {EMPTY_LIMIT // 10**6} million empty cells among these cells; request fewer columns."
            )
        line = io.StringIO()
        csv.writer(line).writerow([cut.inert(values.get(column, "")) for column in range(left, last + 1)])
        yield line.getvalue()
    if not whole and at <= bottom:
        yield "\r\n" * (bottom + 1 - at)


def _html(cut: _Cut) -> Iterator[str]:
    """Yield the pieces of an HTML table with row numbers and with addresses as tooltips."""
    left = cut.corners[1]
    title = escape(f"{cut.sheet.name}, {cut.location.range}" if cut.location.range else cut.sheet.name)
    yield '<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head>\n"
    yield f"<body><table><caption>{title}</caption>\n"
    for row, values in cut.by_row():
        cells = "".join(_html_cells(row, values, left))
        yield f"<tr><th>{row}</th>{cells}</tr>\n"
    yield "</table></body></html>\n"


def _html_cells(row: int, values: dict[int, str], left: int) -> Iterator[str]:
    """Yield the HTML cells of a row from the column `left` on. Adjacent empty cells become one cell."""
    at = left
    for column in sorted(values):
        if column > at:
            yield "<td></td>" if column == at + 1 else f'<td colspan="{column - at}"></td>'
        yield f'<td title="{column_name(column)}{row}">{escape(values[column])}</td>'
        at = column + 1
