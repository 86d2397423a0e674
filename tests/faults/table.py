"""What the harness tried, and what came of it: rows, and the table made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from attrs import frozen

_T = TypeVar("_T")


@frozen
class Scale:
    """How much is tried: for about `seconds` where an area runs by the clock, `inputs` where it counts what it feeds.

    An area that tries one operation after another takes every `parts`-th of them, beginning with number `part`: so several
    processes can share it.
    """

    seconds: float
    inputs: int
    part: int = 0
    parts: int = 1

    def share(self, operations: Sequence[_T]) -> Sequence[_T]:
        """The operations that belong to this part."""
        return operations[self.part :: self.parts]


BRIEF = Scale(seconds=1.0, inputs=25)
"""What the suite tries on every run."""

LONG = Scale(seconds=60.0, inputs=1200)
"""What the command tries: about half an hour on two processors that do nothing else, and still all contents."""


@frozen
class Row:
    """`tried` faults, inputs or calls of one kind, of which `survived` ended as promised; `note` says more."""

    area: str
    what: str
    tried: int
    survived: int
    note: str = ""

    @property
    def kept(self) -> bool:
        """Whether something was tried, and all of it ended as promised."""
        return 0 < self.tried == self.survived


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, with a last line that sums them up."""
    lines = ["| Area | What was done | Tried | Survived | |", "|---|---|--:|--:|---|"]
    lines += [f"| {row.area} | {row.what} | {row.tried:,} | {row.survived:,} | {row.note} |" for row in rows]
    tried, survived = sum(row.tried for row in rows), sum(row.survived for row in rows)
    return "\n".join([*lines, f"| **All** | | **{tried:,}** | **{survived:,}** | |"])


def merged(rows: Iterable[Row]) -> list[Row]:
    """Rows of the same area and kind as one, in the order in which each first appears."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        same = found.get((row.area, row.what))
        if same is not None:
            notes = "; ".join(filter(None, (same.note, row.note)))
            row = Row(row.area, row.what, same.tried + row.tried, same.survived + row.survived, notes)
        found[row.area, row.what] = row
    return list(found.values())
