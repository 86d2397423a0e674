"""Reads the text of workbooks row by row."""

from __future__ import annotations

from collections.abc import Iterator

from citekit.adapters.formats.shared.office_metadata import core_facts
from citekit.adapters.formats.xlsx.workbook import Sheet, Workbook
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind, Units
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source

TEXT_LIMIT = 64 * 2**20
"""Maximum characters in the text of a workbook."""

_STEP = 5_000


class SheetsTextReader:
    """A text reader for workbooks. Each nonempty row is a unit, with its cells separated by tabs.

    Dates and numbers are formatted as in evidence.
    """

    def supports(self, format: Format) -> bool:
        """Return whether `format` is XLSX."""
        return format.name == "xlsx"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """Return the text of all sheets in order, including hidden ones. See `TextReader.read`."""
        with opened_package(source.path) as package:
            workbook = Workbook.of(package)
            pieces: list[str] = []
            units, start, before = Units(), 0, 0
            sheets: list[SheetRows] = []
            for place, sheet in enumerate(workbook.sheets):
                progress(place, len(workbook.sheets), "reading sheets")
                rows = columns = 0
                for row, width, text in _rows(workbook, sheet):
                    units.add(before + row, start, start + len(text))
                    pieces.append(text)
                    start += len(text) + 1
                    rows, columns = max(rows, row), max(columns, width)
                    if start > TEXT_LIMIT:
                        raise SourceUnsupported(
                            f"{source.path.name} has more than {TEXT_LIMIT >> 20} million characters of text; split it."
                        )
                    if len(pieces) % _STEP == 0:
                        progress(place, len(workbook.sheets), "reading sheets")
                if rows:
                    sheets.append(SheetRows(sheet.name, before, rows, columns))
                before += rows
        return ExtractedText(UnitKind.ROW, "\n".join(pieces), units, sheets)

    def facts(self, source: Source) -> BookFacts:
        """Return the title, authors, and language from the workbook's core properties."""
        return core_facts(source.path)


def _rows(workbook: Workbook, sheet: Sheet) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the last used column, and the text of each nonempty row in ascending order.

    Rows that are out of order are skipped.
    """
    now, cells = 0, dict[int, str]()
    for value in workbook.values(sheet):
        if value.row > now:
            yield from _row(now, cells)
            now, cells = value.row, {}
        if value.row == now:
            cells[value.column] = " ".join(workbook.shown(value).split())
    yield from _row(now, cells)


def _row(row: int, cells: dict[int, str]) -> Iterator[tuple[int, int, str]]:
    text = "\t".join(cells[column] for column in sorted(cells) if cells[column])
    if text:
        yield row, max(cells), text
