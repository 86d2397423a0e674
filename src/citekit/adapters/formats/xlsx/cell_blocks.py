"""Blocks of cells on a sheet: what empty rows and columns part. Found row by row, in memory bounded by what is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import define, field

from citekit.adapters.formats.xlsx.cells import Value

OPEN_LIMIT = 1000
"""Blocks that one row may touch or part."""

BLOCKS_LIMIT = 500
"""Blocks of one sheet; a sheet with more has no regions worth telling."""

FIRST_ROWS = 10
"""Rows of a block whose values are kept."""


@define
class Block:
    """The rectangle around cells that lie side by side; `head` has the values of its first rows, by row and column."""

    top: int
    left: int
    bottom: int
    right: int
    filled: int = 0
    head: dict[int, dict[int, Value]] = field(factory=dict)

    def join(self, other: Block) -> None:
        """Hold the other block, too."""
        self.top, self.left = min(self.top, other.top), min(self.left, other.left)
        self.bottom, self.right = max(self.bottom, other.bottom), max(self.right, other.right)
        self.filled += other.filled
        for row, values in other.head.items():
            if len(self.head) < FIRST_ROWS or row <= max(self.head):
                self.head.setdefault(row, {}).update(values)
        for row in sorted(self.head)[FIRST_ROWS:]:
            del self.head[row]

    def touches(self, other: Block) -> bool:
        """Whether no empty row and no empty column lies between the two."""
        return (
            self.left <= other.right + 1
            and other.left <= self.right + 1
            and self.top <= other.bottom + 1
            and other.top <= self.bottom + 1
        )


class TooManyBlocksError(Exception):
    """The cells of a sheet are scattered."""


def blocks(rows: Iterable[tuple[int, dict[int, Value]]]) -> list[Block]:
    """The blocks of rows (number, values by column) that come in rising order. Raises `TooManyBlocksError`."""
    done: list[Block] = []
    open_: list[Block] = []
    for row, values in rows:
        waiting = [block for block in open_ if block.bottom >= row - 1]
        done += [block for block in open_ if block.bottom < row - 1]
        open_ = _joined([*waiting, *_runs(row, values)])
        if len(open_) > OPEN_LIMIT or len(done) > BLOCKS_LIMIT:
            raise TooManyBlocksError
    return sorted(_settled([*done, *open_]), key=lambda block: (block.top, block.left))


def _runs(row: int, values: dict[int, Value]) -> Iterator[Block]:
    """The cells of a row that lie side by side."""
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
    """Blocks that touch are one: in one sweep from left to right, since all of them reach the same rows."""
    kept: list[Block] = []
    for block in sorted(found, key=lambda each: each.left):
        if kept and kept[-1].touches(block):
            kept[-1].join(block)
        else:
            kept.append(block)
    return kept


def _settled(found: list[Block]) -> list[Block]:
    """Blocks whose rectangles touch or overlap, joined until none do."""
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
