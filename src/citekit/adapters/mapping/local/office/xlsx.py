"""Workbooks: sheets, and on them tables, blocks of cells, named ranges and the data of charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from attrs import define, evolve, field, frozen

from citekit.adapters.drivers.office_package import opened_package
from citekit.adapters.drivers.sheet_cells import Value
from citekit.adapters.drivers.workbook import Sheet, Workbook
from citekit.adapters.mapping.local.office.blocks import Block, TooManyBlocksError, blocks
from citekit.adapters.mapping.local.outline import Draft, Outline
from citekit.domain.bounds import Bounds
from citekit.domain.errors import SourceUnsupported
from citekit.domain.locations import Cells
from citekit.domain.progress import Progress
from citekit.domain.source import Source

CELLS_LIMIT = 20_000_000
"""Cells of one workbook that are looked at."""

ROW_VALUES = 60
"""Characters of a value that is kept for titles and headers."""

_T = TypeVar("_T")
_WORDS = frozenset(("s", "str", "inlineStr"))
"""Kinds of values that are text."""


@frozen
class XlsxOutliner:
    """Maps workbooks. A node is a sheet, or a rectangle of cells on it."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """The sheets in the order of their tabs, hidden ones said so. Raises `SourceUnsupported`, `SourceUnreadable`."""
        with opened_package(source.path) as package:
            workbook = Workbook.of(package)
            names = workbook.names()
            read = []
            for number, sheet in enumerate(workbook.sheets):
                progress(number, len(workbook.sheets), f"reading {sheet.name}")
                read.append(_Read.of(workbook, sheet))
            sheets = tuple((each.sheet.name, each.rows, each.columns) for each in read)
            charts = [chart for each in read for chart in workbook.charts(each.sheet)]
            drafts = [_sheet(workbook, each, names, charts) for each in read]
        return Outline(
            title=None,
            bounds=Bounds(sheets=sheets),
            drafts=drafts,
            facts={"sheets": [_said(each) for each in read]},
        )


@define
class _Read:
    """A sheet that was read: how far it reaches, and its blocks (None where its cells are scattered)."""

    sheet: Sheet
    rows: int = 0
    columns: int = 0
    filled: int = 0
    formulas: int = 0
    blocks: list[Block] | None = field(factory=list)

    @classmethod
    def of(cls, workbook: Workbook, sheet: Sheet) -> _Read:
        read = cls(sheet)
        rows = read._rows(workbook)
        try:
            read.blocks = blocks(rows)
        except TooManyBlocksError:
            read.blocks = None
            for _ in rows:
                pass
        return read

    def _rows(self, workbook: Workbook) -> Iterator[tuple[int, dict[int, Value]]]:
        """The values by row, those of the first rows of anything as text; a row that comes late is left out."""
        now = 0
        row: dict[int, Value] = {}
        for value in workbook.values(self.sheet):
            self._count(value)
            if value.row != now:
                if row:
                    yield now, row
                if value.row < now:
                    raise SourceUnsupported(
                        f"{workbook.package.path.name}: the rows of {self.sheet.name!r} are in disorder."
                    )
                now, row = value.row, {}
            row[value.column] = value
        if row:
            yield now, row

    def _count(self, value: Value) -> None:
        self.rows, self.columns = max(self.rows, value.row), max(self.columns, value.column)
        self.filled += 1
        self.formulas += value.formula
        if self.filled > CELLS_LIMIT:
            raise SourceUnsupported(f"The sheet {self.sheet.name!r} holds more than {CELLS_LIMIT} cells; split it.")


def _said(read: _Read) -> dict[str, str | int]:
    state = {} if read.sheet.state == "visible" else {"state": read.sheet.state}
    return {"name": read.sheet.name, "rows": read.rows, "columns": read.columns, **state}


def _sheet(
    workbook: Workbook, read: _Read, names: Sequence[tuple[str, Cells]], charts: Sequence[tuple[str, list[Cells]]]
) -> Draft:
    sheet = read.sheet
    tables = workbook.tables(sheet)
    regions = _regions(workbook, read, [place for _, place in tables])
    drafts = [_table(workbook, read, name, place) for name, place in tables] + regions
    drafts += [Draft(name, "range", place) for name, place in _once(names) if _fits(place, read)]
    drafts += [chart for title, areas in charts for chart in _chart(title, areas, read)]
    return Draft(sheet.name, "sheet", Cells(sheet.name), _about(read, regions), _nested(drafts))


def _about(read: _Read, regions: Sequence[Draft]) -> str:
    hidden = {"hidden": "Hidden sheet. ", "veryHidden": "Hidden sheet. "}.get(read.sheet.state, "")
    if not read.sheet.has_cells:
        return f"{hidden}A sheet of a chart, without cells."
    if not read.filled:
        return f"{hidden}Empty."
    formulas = f", {read.formulas} of them formulas" if read.formulas else ""
    scattered = "" if read.blocks is not None else " The cells are scattered: no regions are told apart."
    single = f" {regions[0].summary}" if len(regions) == 1 and regions[0].summary else ""
    return f"{hidden}{read.rows} rows, {read.columns} columns, {read.filled} cells{formulas}.{scattered}{single}"


def _fits(place: Cells, read: _Read) -> bool:
    """Whether a named range lies on the sheet, is more than a cell, and begins among the cells in use."""
    if place.sheet != read.sheet.name or place.first is None or place.first == place.last:
        return False
    return place.first[0] <= read.rows and place.first[1] <= read.columns


def _once(named: Sequence[tuple[str, _T]]) -> list[tuple[str, _T]]:
    return list(dict(named).items())


def _regions(workbook: Workbook, read: _Read, tables: Sequence[Cells]) -> list[Draft]:
    """A draft for each block that is no defined table, nor a few cells beside larger ones."""
    found = [(block, _place(block, read)) for block in read.blocks or ()]
    free = [(block, place) for block, place in found if not any(place.overlaps(table) for table in tables)]
    large = [pair for pair in free if pair[0].filled >= 3] or (free if not tables else [])
    return [_region(workbook, block, place) for block, place in large]


def _place(block: Block, read: _Read) -> Cells:
    return Cells(read.sheet.name, (block.top, block.left), (block.bottom, block.right))


def _region(workbook: Workbook, block: Block, place: Cells) -> Draft:
    title, header = _headed(workbook, block)
    return Draft(title or place.range or "", "region", place, _columns(header, block.bottom - block.top))


def _headed(workbook: Workbook, block: Block) -> tuple[str, list[str]]:
    """(title, header) of a block: a lone cell above several is its title, the first row of texts its header."""
    rows = [_texts(workbook, block.head[row]) for row in sorted(block.head)]
    title = ""
    if len(rows) > 1 and len(rows[0]) == 1 and len(rows[1]) > 1:
        title = rows[0][0][0]
        rows = rows[1:]
    header = [text for text, _ in rows[0]] if rows and all(worded for _, worded in rows[0]) else []
    return title or ", ".join(header) or (rows[0][0][0] if rows and rows[0] and rows[0][0][1] else ""), header


def _texts(workbook: Workbook, row: dict[int, Value]) -> list[tuple[str, bool]]:
    """(text, whether it is words) of the values of a row."""
    values = [row[column] for column in sorted(row)]
    shown = [(" ".join(workbook.shown(value)[:200].split())[:ROW_VALUES], value.kind in _WORDS) for value in values]
    return [pair for pair in shown if pair[0]]


def _columns(header: Sequence[str], rows: int) -> str | None:
    return f"Columns: {', '.join(header)}. {rows} rows below the header." if header and rows else None


def _table(workbook: Workbook, read: _Read, name: str, place: Cells) -> Draft:
    """A defined table, with the header that the block it lies in has, where that is its own."""
    holding = next((each for each in read.blocks or () if _place(each, read).overlaps(place)), None)
    first = place.first or (1, 1)
    row = {} if holding is None else holding.head.get(first[0], {})
    last = place.last or first
    header = [text for text, _ in _texts(workbook, {at: row[at] for at in row if first[1] <= at <= last[1]})]
    return Draft(name, "table", place, _columns(header, last[0] - first[0]))


def _chart(title: str, areas: Sequence[Cells], read: _Read) -> Iterator[Draft]:
    """A chart as the rectangle of its data on this sheet."""
    here = [each for each in areas if _fits_any(each, read)]
    if here:
        firsts, lasts = [each.first or (1, 1) for each in here], [each.last or (1, 1) for each in here]
        first = min(row for row, _ in firsts), min(column for _, column in firsts)
        last = max(row for row, _ in lasts), max(column for _, column in lasts)
        yield Draft(title or "Chart", "chart", Cells(read.sheet.name, first, last), "The data that a chart shows.")


def _fits_any(place: Cells, read: _Read) -> bool:
    first = place.first
    return place.sheet == read.sheet.name and first is not None and first[0] <= read.rows and first[1] <= read.columns


@define
class _Branch:
    draft: Draft
    below: list[_Branch] = field(factory=list)

    def grown(self) -> Draft:
        return evolve(self.draft, children=[each.grown() for each in self.below])


def _nested(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Drafts in reading order, each below the smallest one that holds it."""
    roots: list[_Branch] = []
    branches: list[_Branch] = []
    for draft in sorted(drafts, key=_reading):
        branch = _Branch(draft)
        holder = next((each for each in reversed(branches) if each.draft.location.contains(draft.location)), None)
        (roots if holder is None else holder.below).append(branch)
        branches.append(branch)
    return tuple(branch.grown() for branch in roots)


_ORDER = ("table", "region", "range", "chart")


def _reading(draft: Draft) -> tuple[int, ...]:
    """From top to bottom and left to right, of those that begin at one cell the larger first."""
    place = draft.location
    if not isinstance(place, Cells):
        return ()
    first, last = place.first or (1, 1), place.last or (1, 1)
    return (*first, -last[0], -last[1], _ORDER.index(draft.type))
