"""Writes the last answers into docs/explanation/performance.md, between its marks, and draws the plots.

python -m benchmarks.page
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks import machine, plots, targets
from benchmarks.places import ROOT
from benchmarks.report import QUESTIONS, Table, read, shown

PAGE = ROOT / "docs" / "explanation" / "performance.md"


def main() -> None:
    """The page and the plots. Ends with a message where the last run was none, or only a trial."""
    answers = {name: read(name) for name in QUESTIONS}
    wanting = [name for name, answer in answers.items() if answer is None or answer["quick"]]
    if wanting and "--anyway" not in sys.argv:
        sys.exit(f"There is no full run of: {', '.join(wanting)}. Run make bench first (or say --anyway).")
    known = {name: answer for name, answer in answers.items() if answer is not None}
    text = PAGE.read_text("utf-8")
    text = between(text, "machine", _machine(known))
    text = between(text, "goals", _markdown(targets.table()))
    for name, answer in known.items():
        text = between(text, name, "\n\n".join(titled(Table(**each)) for each in answer["tables"]))
    PAGE.write_text(text, "utf-8")
    plots.draw(PAGE.parent / "plots", known)


def between(text: str, name: str, content: str) -> str:
    """The text with what stands between the marks of that name replaced. Raises `ValueError` where there are none."""
    pattern = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the page has no marks for {name}")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n\n{found[2]}", text)


def _machine(answers: Mapping[str, dict[str, Any]]) -> str:
    [first, *_] = answers.values()
    seconds = sum(answer["seconds"] for answer in answers.values())
    return f"{machine.told(first['machine'])}. The whole run took {seconds / 60:.0f} minutes."


def titled(table: Table) -> str:
    return f"**{table.title}**\n\n{_markdown(table)}"


def _markdown(table: Table) -> str:
    rows = [
        table.columns,
        ["---", *["---:"] * (len(table.columns) - 1)],
        *([shown(cell) for cell in row] for row in table.rows),
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes)])


if __name__ == "__main__":
    main()
