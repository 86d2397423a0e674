"""Writes the last figures of every area into docs/explanation/structure.md, between its marks.

python -m benchmarks.structure.page
"""

from __future__ import annotations

from benchmarks.page import between, titled
from benchmarks.places import ROOT
from benchmarks.report import Table, read
from benchmarks.structure import AREAS

PAGE = ROOT / "docs" / "explanation" / "structure.md"

LEFT_OUT = ("Differences", "pictures of the corpus", "entries whose title is not at their place in the file")
"""Titles of tables that are only in the JSON."""


def write() -> None:
    """The page, with what was measured last."""
    text = PAGE.read_text("utf-8")
    for area in AREAS:
        answer = read(f"structure-{area}")
        if answer is not None:
            tables = [Table(**each) for each in answer["tables"] if each["title"] not in LEFT_OUT]
            text = between(text, area, "\n\n".join(titled(each) for each in tables))
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
