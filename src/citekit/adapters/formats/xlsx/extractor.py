"""Cells of a workbook as a small workbook, as CSV (the text form), or as an HTML table."""

from __future__ import annotations

import csv
import io
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
"""Characters of one CSV or HTML file."""

MERGES_LIMIT = 8 * 1024 * 1024
"""The size in bytes of the largest sheet whose merged cells are read: the file lists them after all cells."""

_FORMS = (Form.NATIVE, Form.TEXT, Form.HTML)
_NO_VALUES = (
    "The workbook holds no values for {count} formulas, which are given as text: its program has not computed them."
)
_FORMULAS = "Formulas are given as the values that the workbook held for them, not as formulas."
_STYLE = "table{border-collapse:collapse}td,th{border:1px solid #999;padding:2px 6px;text-align:left}"


@frozen
class CellsExtractor:
    """Cells as a workbook of one sheet on which they stand at their own addresses (NATIVE), as CSV (TEXT), or as HTML."""

    identity = ExtractorIdentity("office-cells", "2")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        """XLSX, text and HTML of any cells of a workbook."""
        return _FORMS if format.name == "xlsx" and isinstance(location, Cells) else ()

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        """Write those cells to `target`; see the port for what is raised."""
        if not isinstance(location, Cells) or options.form not in self.forms(source.format, location):
            raise FormUnsupported(f"Cells are cut as xlsx (native), text or html, not as {options.form.value}.")
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
    if not sheet.has_cells:
        raise FormUnsupported(f"The sheet {sheet.name!r} shows a chart and holds no cells: name the sheet of its data.")
    return sheet


@define
class _Cut:
    """The values inside the place. After they were read, `rows` and `columns` say how far the sheet reaches."""

    workbook: Workbook
    sheet: Sheet
    location: Cells
    rows: int = 0
    columns: int = 0
    formulas: int = 0
    without_value: int = 0
    layout: Layout = field(factory=Layout)

    @property
    def corners(self) -> tuple[int, int, int, int]:
        """(top, left, bottom, right); as far as sheets reach for a whole one."""
        place = self.location
        if place.first is None or place.last is None:
            return 1, 1, ROWS_LIMIT, COLUMNS_LIMIT
        return (*place.first, *place.last)

    def values(self) -> Iterator[Value]:
        """The cells with a value; small sheets are read to their end, where the file lists merged cells."""
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
        """(row, texts by column), of rows with a value."""
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

    def check(self) -> None:
        """Raises `LocationOutside` where the place reaches beyond the cells in use."""
        last = self.location.last
        if last is not None and (last[0] > self.rows or last[1] > self.columns):
            used = f"ends at {cell_name((self.rows, self.columns))}" if self.rows else "is empty"
            raise LocationOutside(f"cell {cell_name(last)} is beyond the end: the sheet {self.sheet.name!r} {used}")

    def notes(self) -> tuple[str, ...]:
        """What is not exactly as in the source."""
        computed = (_FORMULAS,) if self.formulas > self.without_value else ()
        return (*computed, *((_NO_VALUES.format(count=self.without_value),) if self.without_value else ()))

    def write(self, lines: Iterator[str], target: Path) -> None:
        """Write the pieces of a text. Raises `FormUnsupported` where they become too many."""
        size = 0
        with writing(target), target.open("xb") as out:
            for line in lines:
                size += len(line)
                if size > SIZE_LIMIT:
                    raise FormUnsupported(f"These cells make more than {SIZE_LIMIT >> 20} MB: ask for fewer of them.")
                out.write(line.encode("utf-8", "replace"))


def _csv(cut: _Cut) -> Iterator[str]:
    """RFC 4180: from the first column of the place (of the sheet: A), empty rows included."""
    top, left, bottom, right = cut.corners
    whole = cut.location.first is None
    at = top
    for row, values in cut.by_row():
        yield "\r\n" * (row - at)
        at = row + 1
        last = max(values) if whole else right
        line = io.StringIO()
        csv.writer(line).writerow([values.get(column, "") for column in range(left, last + 1)])
        yield line.getvalue()
    if not whole and at <= bottom:
        yield "\r\n" * (bottom + 1 - at)


def _html(cut: _Cut) -> Iterator[str]:
    """A table with the numbers of the rows; each cell says its address. Rows without a value are left out."""
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
    """The cells of a row, one for each gap between them."""
    at = left
    for column in sorted(values):
        if column > at:
            yield "<td></td>" if column == at + 1 else f'<td colspan="{column - at}"></td>'
        yield f'<td title="{column_name(column)}{row}">{escape(values[column])}</td>'
        at = column + 1
