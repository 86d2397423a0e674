"""Analyzes a sheet: its extent, its blocks of cells, and their titles and column names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import define, field, frozen

from citekit.adapters.formats.xlsx.cell_blocks import Block, TooManyBlocksError, blocks
from citekit.adapters.formats.xlsx.cells import WORDS, Value
from citekit.adapters.formats.xlsx.spread_tables import spread_tables
from citekit.adapters.formats.xlsx.workbook import Sheet, Workbook
from citekit.domain.errors import SourceUnsupported

CELLS_LIMIT = 20_000_000
"""Maximum number of cells that are read from a sheet."""


@define
class ReadSheet:
    """The result of reading a sheet. `blocks` is None if the cells are too scattered."""

    sheet: Sheet
    rows: int = 0
    columns: int = 0
    filled: int = 0
    formulas: int = 0
    blocks: list[Block] | None = field(factory=list)

    @classmethod
    def of(cls, workbook: Workbook, sheet: Sheet) -> ReadSheet:
        """Read `sheet` to its end.

        Raise `SourceUnsupported` if the sheet is damaged or too large, or `SourceUnreadable` if the file cannot be
        read.
        """
        read = cls(sheet)
        rows = read._rows(workbook)
        try:
            read.blocks = spread_tables(blocks(rows))
        except TooManyBlocksError:
            read.blocks = None
            for _ in rows:
                pass
        return read

    def _rows(self, workbook: Workbook) -> Iterator[tuple[int, dict[int, Value]]]:
        """Yield the number and the values of each row. Raise `SourceUnsupported` if rows are out of order."""
        now = 0
        row: dict[int, Value] = {}
        merged = workbook.merged(self.sheet)
        for value in workbook.values(self.sheet):
            self._count(value)
            if value.row != now:
                if row:
                    yield now, row
                if value.row < now:
                    raise SourceUnsupported(
                        f"{workbook.package.path.name} is damaged: the rows of the sheet {self.sheet.name!r} are out of "
                        "order."
                    )
                now, row = value.row, {}
            merged.apply(value)
            row[value.column] = value
        if row:
            yield now, row

    def _count(self, value: Value) -> None:
        self.rows, self.columns = max(self.rows, value.row), max(self.columns, value.column)
        self.filled += 1
        self.formulas += value.formula
        if self.filled > CELLS_LIMIT:
            raise SourceUnsupported(
                f"The sheet {self.sheet.name!r} has more than {CELLS_LIMIT:,} nonempty cells; split it."
            )


ROW_VALUES = 60
"""Maximum number of characters of a value in a title or header."""

_WORD = re.compile(r"[^\W_]{2}|[\u2e80-\U0003ffff]")
"""Matches two letters or digits in a row, or a character of an East Asian script, but no operator such as `x`."""

_YEAR = re.compile(r"(?:1[89]|20|21)\d\d(?:-\d\d(?:-\d\d)?)?\Z")


def first_words(workbook: Workbook, block: Block) -> str:
    """Return the first text with a word that the first row of a block shows, or ""."""
    texts = _texts(workbook, block.head[min(block.head)])
    return next((each.text for each in texts if each.is_words and _WORD.search(each.text)), "")


def leading_text(workbook: Workbook, row: dict[int, Value]) -> str:
    """Return the first value that a row shows if it is text, or else ""."""
    texts = _texts(workbook, row)
    return texts[0].text if texts and texts[0].is_words else ""


def headed(workbook: Workbook, block: Block) -> tuple[str, list[str], int]:
    """Return the title, the header (column names), and the number of rows below the header of a block.

    The header is a row with nearly as many values as the widest row and only text and years or dates. If there is none,
    the list is empty. If `spread_tables` found column names, the header is the row with the most values down to the
    last row of column names. The title is the text at the beginning of the first row, or "" if that row is the header
    or begins the data.
    """
    if block.names:
        named = max((row for row in sorted(block.head) if row <= block.names), key=lambda row: len(block.head[row]))
        title = "" if named == block.top else leading_text(workbook, block.head[block.top])
        return title, [each.text for each in _texts(workbook, block.head[named])], block.rows
    rows = [(row, _texts(workbook, block.head[row])) for row in sorted(block.head)]
    widest = max((len(texts) for _, texts in rows), default=0)
    at = next((at for at, (_, texts) in enumerate(rows) if len(texts) * 3 >= widest * 2), 0)
    worded = next((end for end, (_, texts) in enumerate(rows) if end >= at and not _is_header(texts)), 0)
    if worded > at:  # notes above the header may be nearly as wide
        at = max(range(at, worded), key=lambda each: len(rows[each][1]))
    number, texts = rows[at]
    title = leading_text(workbook, block.head[rows[0][0]]) if at else ""
    return title, [each.text for each in texts] if _is_header(texts) else [], block.bottom - number


def _is_header(texts: Sequence[_Text]) -> bool:
    """Return whether a row consists of column names: text, and possibly sorted years or dates.

    At least a quarter of them must be different.
    """
    others = [each.text for each in texts if not each.is_words]
    dated = all(each.is_dated for each in texts if not each.is_words)
    in_order = len(others) > 1 and (others == sorted(set(others)) or others == sorted(set(others), reverse=True))
    differ = 4 * len({each.text for each in texts}) >= len(texts)
    return differ and len(others) < len(texts) and (not others or (dated and in_order))


@frozen
class _Text:
    """A cell value as displayed; `is_words` is true for text, and `is_dated` for years and dates."""

    text: str
    is_words: bool
    is_dated: bool = False


def _texts(workbook: Workbook, row: dict[int, Value]) -> list[_Text]:
    """Return the nonempty values of a row as displayed, from left to right."""
    shown = (row[column] for column in sorted(row) if workbook.is_shown(row[column]))
    return [each for each in (_text(workbook, value) for value in shown) if each.text]


def _text(workbook: Workbook, value: Value) -> _Text:
    shown = " ".join(workbook.shown(value)[:200].split())[:ROW_VALUES]
    return _Text(shown, value.kind in WORDS, bool(_YEAR.match(shown)) if value.kind == "n" else value.kind == "d")
