"""Reads the text of workbooks row by row."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from citekit.adapters.formats.shared.office_metadata import core_facts
from citekit.adapters.formats.xlsx.workbook import Sheet, Workbook
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.errors import SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.library.books import BookFacts
from citekit.domain.library.extracted_text import ExtractedText, SheetRows, UnitKind, Units
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.hidden import with_hidden
from citekit.domain.quotes.superscripts import COMPUTED
from citekit.domain.source import Source

TEXT_LIMIT = 64 * 2**20
"""Maximum number of characters in the text of a workbook."""

_STEP = 5_000


class SheetsTextReader:
    """A text reader for workbooks. Each nonempty row is a unit, with its cells separated by tabs.

    With `as_seen`, the complete text of a row that hides some of it follows the visible text (see
    `domain.quotes.hidden`), and words that a formula computed are marked by `COMPUTED`.
    """

    def __init__(self, *, as_seen: bool = False) -> None:
        self._as_seen = as_seen

    def supports(self, format: Format) -> bool:
        """Return whether `format` is XLSX."""
        return format.name == "xlsx"

    def read(self, source: Source, progress: Progress = silent) -> ExtractedText:
        """See `TextReader.read`. Also raise `SourceUnsupported` if the text has more than `TEXT_LIMIT` characters."""
        with opened_package(source.path) as package:
            workbook = Workbook.of(package)
            pieces: list[str] = []
            units, start, before = Units(), 0, 0
            sheets: list[SheetRows] = []
            for place, sheet in enumerate(workbook.sheets):
                progress(place, len(workbook.sheets), "reading sheets")
                rows = columns = 0
                for row, width, text in _rows(workbook, sheet, as_seen=self._as_seen):
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
        """See `TextReader.facts`. The facts are the title, authors, and language in the core properties."""
        return core_facts(source.path)


def _rows(workbook: Workbook, sheet: Sheet, *, as_seen: bool) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the last used column, and the text of each nonempty row; rows out of order are skipped."""
    now, cells, hidden = 0, dict[int, str](), set[int]()
    merged = workbook.merged(sheet) if as_seen else None
    for value in workbook.values(sheet):
        if value.row > now:
            yield from _row(now, cells, hidden)
            now, cells, hidden = value.row, {}, set()
        if value.row == now:
            words = workbook.shown(value).replace(COMPUTED, "").split()
            mark = COMPUTED if as_seen and value.formula else ""
            cells[value.column] = " ".join(f"{word}{mark}" for word in words)
            if merged:
                merged.apply(value)
                if not workbook.is_shown(value):
                    hidden.add(value.column)
    yield from _row(now, cells, hidden)


def _row(row: int, cells: dict[int, str], hidden: Collection[int]) -> Iterator[tuple[int, int, str]]:
    columns = [column for column in sorted(cells) if cells[column]]
    if columns:
        whole = "\t".join(cells[column] for column in columns)
        shown = "\t".join(cells[column] for column in columns if column not in hidden) if hidden else whole
        yield row, columns[-1], with_hidden(shown, whole)
