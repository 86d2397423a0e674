"""A sheet as it is read for a map: how far it reaches, and the blocks of its cells."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import define, field

from citekit.adapters.drivers.sheet_cells import Value
from citekit.adapters.drivers.workbook import Sheet, Workbook
from citekit.adapters.mapping.local.office.blocks import Block, TooManyBlocksError, blocks
from citekit.domain.errors import SourceUnsupported

CELLS_LIMIT = 20_000_000
"""Cells of one workbook that are looked at."""


@define
class ReadSheet:
    """A sheet that was read: how far it reaches, and its blocks (None where its cells are scattered)."""

    sheet: Sheet
    rows: int = 0
    columns: int = 0
    filled: int = 0
    formulas: int = 0
    blocks: list[Block] | None = field(factory=list)

    @classmethod
    def of(cls, workbook: Workbook, sheet: Sheet) -> ReadSheet:
        """The `sheet`, read to its end. Raises `SourceUnsupported`, `SourceUnreadable`."""
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
