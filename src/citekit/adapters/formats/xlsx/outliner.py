"""Outlines workbooks: sheets with their tables, blocks of cells, named ranges, and chart data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from attrs import define, evolve, field, frozen

from citekit.adapters.formats.shared.office_metadata import facts_in
from citekit.adapters.formats.shared.outline import Outline, OutlineItem
from citekit.adapters.formats.shared.titles import is_confirmed, may_be_title, words_of
from citekit.adapters.formats.xlsx.cell_blocks import Block
from citekit.adapters.formats.xlsx.cells import Value
from citekit.adapters.formats.xlsx.sheet_layout import ReadSheet, first_words, headed, leading_text
from citekit.adapters.formats.xlsx.workbook import Sheet, Table, Workbook
from citekit.adapters.libraries.office_package import opened_package
from citekit.domain.extent import Extent
from citekit.domain.locations import Cells
from citekit.domain.progress import Progress
from citekit.domain.source import Source
from citekit.domain.vocabulary import TABLE, any_of

TITLE_GAP = 3
"""Maximum distance in rows between a title and the block below it."""

LEAST_GROUPS = 2
"""Minimum number of groups of rows of a region."""

_UNITS = re.compile(r"\(?(?:(?:all )?(?:amounts|figures|values) )?in\b", re.IGNORECASE)
"""Matches the beginning of a note about units above a table (`In millions of euros`)."""

_AUTOMATIC = re.compile(rf"(?:{any_of(TABLE)})_?\d+", re.IGNORECASE)
"""Matches the names that Excel gives to tables."""

_T = TypeVar("_T")


@frozen
class XlsxOutliner:
    """An outliner for workbooks. Nodes are sheets and rectangles of cells."""

    def outline(self, source: Source, progress: Progress) -> Outline:
        """See `Outliner.outline`. The items are the sheets in tab order, including hidden sheets."""
        with opened_package(source.path) as package:
            workbook = Workbook.of(package)
            names = workbook.names()
            read = []
            for number, sheet in enumerate(workbook.sheets):
                progress(number, len(workbook.sheets), f"reading {sheet.name}")
                read.append(ReadSheet.of(workbook, sheet))
            sheets = tuple((each.sheet.name, each.rows, each.columns) for each in read)
            charts = [chart for each in read for chart in workbook.charts(each.sheet)]
            outline_items = [_sheet(workbook, each, names, charts) for each in read]
            title = _title(workbook, read, facts_in(package).title or "")
        return Outline(
            title=title,
            extent=Extent(sheets=sheets),
            items=outline_items,
            facts={"sheets": [_facts(each) for each in read]},
        )


def _title(workbook: Workbook, read: Sequence[ReadSheet], written: str) -> str | None:
    """Return the title in the core properties if the first visible sheet confirms it, or else the title above its first
    table.

    Without such a title, return the title in the core properties, or None.
    """
    first = next((each for each in read if each.filled and each.sheet.state == "visible"), None)
    found = sorted(first.blocks or (), key=lambda block: (block.top, block.left)) if first else []
    words = {word for block in found for row in block.head.values() for word in words_of(_text_of(workbook, row))}
    if written and is_confirmed(written, words):
        return written
    above = found[:1] if len(found) > 1 and _is_title(workbook, found[0]) else []
    printed = (
        leading_text(workbook, above[0].head[above[0].top]) if above else headed(workbook, found[0])[0] if found else ""
    )
    return (printed if may_be_title(printed) and not _UNITS.match(printed) else written) or None


def _text_of(workbook: Workbook, row: dict[int, Value]) -> str:
    return " ".join(workbook.shown(value) for value in row.values() if workbook.is_shown(value))


def _facts(read: ReadSheet) -> dict[str, str | int]:
    state = {} if read.sheet.state == "visible" else {"state": read.sheet.state}
    return {"name": read.sheet.name, "rows": read.rows, "columns": read.columns, **state}


def _sheet(
    workbook: Workbook, read: ReadSheet, names: Sequence[tuple[str, Cells]], charts: Sequence[tuple[str, list[Cells]]]
) -> OutlineItem:
    sheet = read.sheet
    tables = workbook.tables(sheet)
    regions = _regions(workbook, read, [table.place for table in tables])
    outline_items = [_table(table, sheet) for table in tables] + regions + list(_groups(workbook, read, regions))
    outline_items += [OutlineItem(name, "range", place) for name, place in _once(names) if _fits(place, read)]
    outline_items += [chart for title, areas in charts for chart in _chart(title, areas, read)]
    return OutlineItem(sheet.name, "sheet", Cells(sheet.name), _about(read, regions), _nested(outline_items))


def _about(read: ReadSheet, regions: Sequence[OutlineItem]) -> str:
    hidden = {"hidden": "Hidden sheet. ", "veryHidden": "Hidden sheet. "}.get(read.sheet.state, "")
    if not read.sheet.has_cells:
        return f"{hidden}{'Chart sheet without cells' if read.sheet.is_chart else 'Not a worksheet'}."
    if not read.filled:
        return f"{hidden}Empty."
    formulas = f", including {_many(read.formulas, 'formula')}" if read.formulas else ""
    scattered = "" if read.blocks is not None else " No regions were detected because the cells are too scattered."
    single = f" {regions[0].summary}" if len(regions) == 1 and regions[0].summary else ""
    size = f"{_many(read.rows, 'row')}, {_many(read.columns, 'column')}, {_many(read.filled, 'cell')}"
    return f"{hidden}{size}{formulas}.{scattered}{single}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _fits(location: Cells, read: ReadSheet) -> bool:
    """Return whether the named range `location` is on the sheet, has several cells, and starts within those in use."""
    if location.sheet != read.sheet.name or location.first is None or location.first == location.last:
        return False
    return location.first[0] <= read.rows and location.first[1] <= read.columns


def _once(named: Sequence[tuple[str, _T]]) -> list[tuple[str, _T]]:
    return list(dict(named).items())


def _regions(workbook: Workbook, read: ReadSheet, tables: Sequence[Cells]) -> list[OutlineItem]:
    """Return an outline item for each block of cells without a table.

    On a sheet with larger blocks or tables, small blocks are left out.
    """
    found = [(block, _location(block, read)) for block in read.blocks or ()]
    free = [(block, location) for block, location in found if not any(location.overlaps(table) for table in tables)]
    large = [pair for pair in free if pair[0].filled >= 3] or (free if not tables else [])
    small = [block for block, _ in free if _is_title(workbook, block)]
    return [_region(workbook, block, location, _above(block, small)) for block, location in large]


def _is_title(workbook: Workbook, block: Block) -> bool:
    """Return whether a block may be a title: one or two text cells in one column."""
    return (
        block.filled < 3
        and block.left == block.right
        and all(leading_text(workbook, row) for row in block.head.values())
    )


def _above(block: Block, small: Sequence[Block]) -> Block | None:
    """Return the nearest of the blocks `small` that may be the title above `block`, or None."""
    near = [
        each
        for each in small
        if 0 < block.top - each.bottom <= TITLE_GAP and block.left <= each.left <= block.right and each is not block
    ]
    return max(near, key=lambda each: each.bottom, default=None)


def _location(block: Block, read: ReadSheet) -> Cells:
    return Cells(read.sheet.name, (block.top, block.left), (block.bottom, block.right))


def _region(workbook: Workbook, block: Block, location: Cells, above: Block | None) -> OutlineItem:
    title, header, below = headed(workbook, block)
    if not title and above is not None:
        title = leading_text(workbook, above.head[above.top])
    return OutlineItem(
        title or ", ".join(header) or first_words(workbook, block) or location.range or "",
        "region",
        location,
        _columns(header, below),
    )


def _groups(workbook: Workbook, read: ReadSheet, regions: Sequence[OutlineItem]) -> Iterator[OutlineItem]:
    """Yield the groups of rows in `regions`. A group is a row with only one text, in bold, and the rows below it up to
    the next such row.

    The rows down to the column names and the last row of a region begin no group. A region has groups only if it has
    several columns, if at least `LEAST_GROUPS` rows begin one, and if these are at most half of the rows below the
    column names.
    """
    places = {each.location for each in regions}
    for block in read.blocks or ():
        labels = {value.row: value for value in block.alone if workbook.is_bold(value) and workbook.is_shown(value)}
        if len(labels) < LEAST_GROUPS:
            continue
        _, header, below = headed(workbook, block)
        above = block.bottom - below if header else block.top
        starts = [row for row in sorted(labels) if above < row < block.bottom]
        few, many = len(starts) < LEAST_GROUPS, 2 * len(starts) > block.bottom - above
        if few or many or block.left == block.right or _location(block, read) not in places:
            continue
        for row, after in pairwise([*starts, block.bottom + 1]):
            title = leading_text(workbook, {labels[row].column: labels[row]})
            if title:
                yield OutlineItem(title, "group", Cells(read.sheet.name, (row, block.left), (after - 1, block.right)))


def _columns(header: Sequence[str], rows: int) -> str | None:
    return f"Columns: {', '.join(header)}. {_many(rows, 'row')} below the header." if header and rows else None


def _table(table: Table, sheet: Sheet) -> OutlineItem:
    """Return the outline item for a table that the workbook defines. Column names on hidden sheets are left out.

    If the name of the table is one that Excel gives to tables, the title consists of the column names, if there are
    any.
    """
    first, last = table.place.first or (1, 1), table.place.last or (1, 1)
    columns = table.columns if sheet.state == "visible" else ()
    title = (", ".join(columns) if _AUTOMATIC.fullmatch(table.name) else "") or table.name
    return OutlineItem(title, "table", table.place, _columns(columns, last[0] - first[0]))


def _chart(title: str, areas: Sequence[Cells], read: ReadSheet) -> Iterator[OutlineItem]:
    """Yield an outline item for a chart with data on this sheet, located at the bounding rectangle of that data."""
    here = [each for each in areas if _fits_any(each, read)]
    if here:
        firsts, lasts = [each.first or (1, 1) for each in here], [each.last or (1, 1) for each in here]
        first = min(row for row, _ in firsts), min(column for _, column in firsts)
        last = max(row for row, _ in lasts), max(column for _, column in lasts)
        yield OutlineItem(title or "Chart", "chart", Cells(read.sheet.name, first, last), "The data of a chart.")


def _fits_any(location: Cells, read: ReadSheet) -> bool:
    first = location.first
    return (
        location.sheet == read.sheet.name and first is not None and first[0] <= read.rows and first[1] <= read.columns
    )


DEPTH_LIMIT = 20
"""Maximum nesting depth of areas on a sheet."""


@define
class _Branch:
    outline_item: OutlineItem
    depth: int = 0
    below: list[_Branch] = field(factory=list)

    def grown(self) -> OutlineItem:
        return evolve(self.outline_item, children=[each.grown() for each in self.below])


def _nested(outline_items: Sequence[OutlineItem]) -> tuple[OutlineItem, ...]:
    """Return the items as a tree, each below the nearest preceding item that contains it."""
    roots: list[_Branch] = []
    branches: list[_Branch] = []
    for outline_item in sorted(outline_items, key=_reading):
        place = outline_item.location
        holder = next(
            (
                each
                for each in reversed(branches)
                if each.depth < DEPTH_LIMIT
                and each.outline_item.location.contains(place)
                and each.outline_item.location != place
            ),
            None,
        )
        branch = _Branch(outline_item, 0 if holder is None else holder.depth + 1)
        (roots if holder is None else holder.below).append(branch)
        branches.append(branch)
    return tuple(branch.grown() for branch in roots)


_ORDER = ("table", "region", "group", "range", "chart")


def _reading(outline_item: OutlineItem) -> tuple[int, ...]:
    """Return the sort key of an item: from top to bottom, from left to right, the larger one first."""
    location = outline_item.location
    if not isinstance(location, Cells):
        return ()
    first, last = location.first or (1, 1), location.last or (1, 1)
    return (*first, -last[0], -last[1], _ORDER.index(outline_item.type))
