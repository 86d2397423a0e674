"""What the harness tried, and what came of it: rows, and the table made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import asdict, frozen


@frozen
class Scale:
    """How much is tried: for about `seconds` where an area runs by the clock, `inputs` where it counts what it feeds."""

    seconds: float
    inputs: int


BRIEF = Scale(seconds=1.0, inputs=25)
"""What the suite tries on every run."""

LONG = Scale(seconds=60.0, inputs=4000)
"""What the command tries."""


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


def save(rows: Sequence[Row], path: Path) -> None:
    """The rows as JSON beside the table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
