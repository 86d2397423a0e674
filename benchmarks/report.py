"""What a question found: tables to read, the same as JSON, and the figures that the goals are held against."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, define, field

from benchmarks import machine
from benchmarks.measuring import QUICK

RESULTS = Path(__file__).parent / "results"

QUESTIONS = ("protocol", "starting", "extracting", "repeating", "ingesting", "scaling")
"""The modules that answer one each, in the order of the tables."""

Cell = str | float | int | None


@define
class Table:
    """Rows of cells under columns; the first column names the row. `notes` stand below it."""

    title: str
    columns: Sequence[str]
    rows: list[list[Cell]] = field(factory=list)
    notes: list[str] = field(factory=list)

    def row(self, *cells: Cell) -> None:
        """One row more."""
        self.rows.append([None if isinstance(each, float) and math.isnan(each) else each for each in cells])


@define
class Report:
    """The answer to one question, `question` being the name of its file."""

    question: str
    subject: str
    tables: list[Table] = field(factory=list)
    facts: dict[str, float | None] = field(factory=dict)
    began: float = field(factory=time.perf_counter)

    def table(self, title: str, *columns: str) -> Table:
        """A table to be filled."""
        self.tables.append(Table(title, columns))
        return self.tables[-1]

    def fact(self, name: str, value: float | None) -> None:
        """A figure that a goal is held against."""
        self.facts[name] = None if value is None or math.isnan(value) else value

    def finish(self) -> None:
        """Print the tables, and write them as JSON."""
        seconds = time.perf_counter() - self.began
        print(f"\n{self.subject}{' (a quick trial)' if QUICK else ''}", flush=True)
        for table in self.tables:
            print(drawn(table), flush=True)
        print(f"\n  {self.question} took {seconds:.0f} s", flush=True)
        RESULTS.mkdir(exist_ok=True)
        plain = {
            "question": self.question,
            "subject": self.subject,
            "quick": QUICK,
            "seconds": round(seconds, 1),
            "machine": machine.description(),
            "tables": [asdict(table) for table in self.tables],
            "facts": self.facts,
        }
        (RESULTS / f"{self.question}.json").write_text(json.dumps(plain, indent=1, ensure_ascii=False), "utf-8")


def read(question: str) -> dict[str, Any] | None:
    """The last answer to a question, None where there is none."""
    path = RESULTS / f"{question}.json"
    found: dict[str, Any] | None = json.loads(path.read_text("utf-8")) if path.exists() else None
    return found


def shown(cell: Cell) -> str:
    """A cell as text: three significant digits, thousands parted."""
    if cell is None:
        return "—"
    if isinstance(cell, bool | str):
        return str(cell)
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"


def drawn(table: Table) -> str:
    """The table as lines of text."""
    texts = [list(table.columns), *([shown(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[n]) for row in texts) for n in range(len(table.columns))]
    lines = [
        "    "
        + "  ".join(
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in texts
    ]
    return "\n".join([f"\n  {table.title}", *lines, *(f"    {note}" for note in table.notes)])
