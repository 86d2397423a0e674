"""Joins the parts of tables that have empty rows between their rows, and empty columns between some columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from citekit.adapters.formats.xlsx.cell_blocks import Block, settled
from citekit.adapters.formats.xlsx.cells import WORDS

LEAST_ROWS = 4
"""The minimum number of rows, at equal distances, that are a table although empty rows are between them."""

WIDEST_GAP = 3
"""The maximum difference between the row numbers of neighboring rows of such a table, and between its column names and
its first row.
"""

NAMES_HEIGHT = 2
"""The maximum number of rows of column names."""


def spread_tables(found: Sequence[Block]) -> list[Block]:
    """Return the blocks of a sheet, with those joined that are rows, columns, or column names of one table.

    Rows belong together if they have the same columns and are equally far from one another. A single column of such rows
    is a list of texts or numbers rather than a table, so its cells stay apart.
    """
    tables = [each for each in _side_by_side(list(_series(found))) if each[0].left < each[0].right]
    joined = set[int]()
    for table, members in tables:
        joined.update(map(id, members))
        _add_names(table, [block for block in found if id(block) not in joined], joined)
    if not tables:
        return list(found)
    others = [block for block in found if id(block) not in joined]
    return sorted(settled([*others, *(table for table, _ in tables)]), key=lambda block: (block.top, block.left))


_Table = tuple[Block, list[Block]]
"""A new block and the blocks of which it consists."""


def _series(found: Sequence[Block]) -> Iterator[_Table]:
    """Yield the tables that consist of blocks of one row with the same columns at equal distances."""
    alike = defaultdict(list)
    for block in found:
        if block.top == block.bottom:
            alike[block.left, block.right].append(block)
    for blocks in alike.values():
        run = blocks[:1]
        for before, block in pairwise(blocks):
            gap = block.top - before.top
            if gap > WIDEST_GAP or (len(run) > 1 and gap != run[1].top - run[0].top):
                yield from _table(run)
                run = []
            run.append(block)
        yield from _table(run)


def _table(run: Sequence[Block]) -> Iterator[_Table]:
    if len(run) >= LEAST_ROWS:
        table = Block(run[0].top, run[0].left, run[0].top, run[0].right)
        for block in run:
            table.join(block)
        table.rows = len(run)
        yield table, list(run)


def _side_by_side(tables: Sequence[_Table]) -> list[_Table]:
    """Return the tables, joined where only one empty column is between them and they have the same rows."""
    found: list[_Table] = []
    for table, members in sorted(tables, key=lambda each: (each[0].top, each[0].bottom, each[0].rows, each[0].left)):
        before = found[-1][0] if found else None
        if before is not None and _rows(before) == _rows(table) and table.left == before.right + 2:
            before.join(table)
            found[-1][1].extend(members)
        else:
            found.append((table, members))
    return found


def _rows(table: Block) -> tuple[int, int, int]:
    return table.top, table.bottom, table.rows


def _add_names(table: Block, others: Sequence[Block], joined: set[int]) -> None:
    """Add the blocks of text above `table` to it as its column names, if they fill several columns.

    Add the `id` of each of these blocks to `joined`.
    """
    names = [
        block
        for block in others
        if 0 < table.top - block.bottom <= WIDEST_GAP
        and block.bottom - block.top < NAMES_HEIGHT
        and table.left <= block.left <= block.right <= table.right
        and all(value.kind in WORDS for row in block.head.values() for value in row.values())
    ]
    if sum(block.right - block.left + 1 for block in names) > 1:
        table.names = max(block.bottom for block in names)
        for block in names:
            table.join(block)
        joined.update(map(id, names))
