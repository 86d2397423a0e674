"""Finds blocks of cells on a sheet: rectangles separated by empty rows and columns.

Only the first rows of a block are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from attrs import define, field

from citekit.adapters.formats.xlsx.cells import WORDS, Value

OPEN_LIMIT = 1000
"""Maximum number of open blocks: those that end in the current or the previous row, so that they may still grow."""

BLOCKS_LIMIT = 500
"""Maximum number of blocks of a sheet that are no longer open. A sheet with more has no useful regions."""

FIRST_ROWS = 10
"""Number of rows at the top of a block whose values are stored."""


ALONE_LIMIT = 1000
"""Number of texts that are alone in their rows after which no more are stored for a block."""


@define
class Block:
    """The bounding rectangle of adjacent cells on a sheet, by row and column numbers.

    `filled` is the number of cells with a value, and `head` has the values of the first rows. `names` is the number of the
    last row of column names, and `rows` the number of rows below; both are 0 unless `spread_tables` made the block.
    `alone` are the first texts that are alone in their rows, in any order.
    """

    top: int
    left: int
    bottom: int
    right: int
    filled: int = 0
    head: dict[int, dict[int, Value]] = field(factory=dict)
    names: int = 0
    rows: int = 0
    alone: list[Value] = field(factory=list)

    def join(self, other: Block) -> None:
        """Merge `other` into this block."""
        self.top, self.left = min(self.top, other.top), min(self.left, other.left)
        self.bottom, self.right = max(self.bottom, other.bottom), max(self.right, other.right)
        self.filled += other.filled
        self.names, self.rows = max(self.names, other.names), max(self.rows, other.rows)
        if len(self.alone) < ALONE_LIMIT:
            self.alone += other.alone
        for row, values in other.head.items():
            if len(self.head) < FIRST_ROWS or row <= max(self.head):
                self.head.setdefault(row, {}).update(values)
        for row in sorted(self.head)[FIRST_ROWS:]:
            del self.head[row]

    def touches(self, other: Block) -> bool:
        """Return whether the two blocks overlap or are adjacent."""
        return (
            self.left <= other.right + 1
            and other.left <= self.right + 1
            and self.top <= other.bottom + 1
            and other.top <= self.bottom + 1
        )


class TooManyBlocksError(Exception):
    """Raised if the cells of a sheet are too scattered to form blocks."""


def blocks(rows: Iterable[tuple[int, dict[int, Value]]]) -> list[Block]:
    """Return the blocks of cells in `rows`: pairs of a row number and the values by column, sorted by row.

    Raise `TooManyBlocksError` if more than `OPEN_LIMIT` blocks are open, or more than `BLOCKS_LIMIT` are no longer open.
    """
    done: list[Block] = []
    open_: list[Block] = []
    for row, values in rows:
        waiting = [block for block in open_ if block.bottom >= row - 1]
        done += [block for block in open_ if block.bottom < row - 1]
        runs = list(_runs(row, values))
        shown = list(islice((value for value in values.values() if not value.hidden), 2))
        if len(shown) == 1 and shown[0].kind in WORDS:
            next(run for run in runs if run.left <= shown[0].column <= run.right).alone.append(shown[0])
        open_ = _joined([*waiting, *runs])
        if len(open_) > OPEN_LIMIT or len(done) > BLOCKS_LIMIT:
            raise TooManyBlocksError
    return sorted(settled([*done, *open_]), key=lambda block: (block.top, block.left))


def _runs(row: int, values: dict[int, Value]) -> Iterator[Block]:
    """Yield a one-row block for each group of adjacent cells in row number `row`."""
    columns = sorted(values)
    if columns and columns[-1] - columns[0] + 1 == len(columns):
        yield Block(row, columns[0], row, columns[-1], len(columns), {row: values})
        return
    block: Block | None = None
    for column in columns:
        if block is None or column > block.right + 1:
            if block is not None:
                yield block
            block = Block(row, column, row, column, head={row: {}})
        block.right = column
        block.filled += 1
        block.head[row][column] = values[column]
    if block is not None:
        yield block


def _joined(found: list[Block]) -> list[Block]:
    """Return the blocks, which extend to the current or the previous row, with touching blocks merged."""
    kept: list[Block] = []
    for block in sorted(found, key=lambda each: each.left):
        if kept and kept[-1].touches(block):
            kept[-1].join(block)
        else:
            kept.append(block)
    return kept


def settled(found: list[Block]) -> list[Block]:
    """Return the blocks, merged until no two of their rectangles touch or overlap."""
    changed = True
    while changed:
        changed = False
        kept: list[Block] = []
        for block in sorted(found, key=lambda each: (each.top, each.left)):
            other = next((each for each in kept if each.touches(block)), None)
            if other is None:
                kept.append(block)
            else:
                other.join(block)
                changed = True
        found = kept
    return found
