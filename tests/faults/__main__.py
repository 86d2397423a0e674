"""`python -m tests.faults [AREA ...] [--seconds N] [--inputs N] [--json FILE]`: try everything, print one table.

Areas run side by side, one process for each processor; the long ones are split into parts that share their operations.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from time import monotonic

from attrs import frozen

from tests.faults.table import LONG, Row, Scale, load, merged, save, table

AREAS = (
    "kills",
    "disk",
    "processes",
    "outside",
    "links",
    "handed_over",
    "contents",
    "bills",
    "neighbors",
    "inputs",
    "words",
)
"""The modules here that have a `run`, in the order of the table."""

PARTS = {"kills": 6, "disk": 4, "links": 2, "bills": 4}
"""Areas that share their operations among so many processes."""

RESULTS = Path("benchmarks/results/faults.json")


@frozen
class Job:
    """One process: a part of an area."""

    area: str
    scale: Scale
    results: Path

    def run(self) -> Sequence[Row]:
        """The rows of the table. A process that ends without them is a row that did not end as promised."""
        began = monotonic()
        what = f"{self.area} {self.scale.part + 1}/{self.scale.parts}"
        command = [sys.executable, "-m", "tests.faults", self.area, "--json", str(self.results)]
        command += ["--seconds", str(self.scale.seconds), "--inputs", str(self.scale.inputs)]
        command += ["--part", str(self.scale.part), "--parts", str(self.scale.parts)]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL)
        print(f"{what}: {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        if not self.results.exists():
            return [Row(self.area, what, 1, 0, f"the harness itself ended with status {ended.returncode}")]
        return load(self.results)


def main() -> int:
    """0 if everything that was tried ended as promised."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("area", nargs="*", choices=[*AREAS, []], default=AREAS)
    parser.add_argument("--seconds", type=float, default=LONG.seconds)
    parser.add_argument("--inputs", type=int, default=LONG.inputs)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--parts", type=int, default=1, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part is not None:
        scale = Scale(asked.seconds, asked.inputs, asked.part, asked.parts)
        rows = import_module(f"tests.faults.{asked.area[0]}").run(scale)
    else:
        rows = together(asked.area, asked.seconds, asked.inputs)
        print(table(rows))
    save(rows, asked.json)
    return 0 if all(row.kept for row in rows) else 1


def together(areas: Sequence[str], seconds: float, inputs: int) -> list[Row]:
    """Run all parts of these areas, as many at once as there are processors, the longest areas first."""
    with tempfile.TemporaryDirectory(prefix="citekit-faults-") as folder:
        jobs = [
            Job(area, Scale(seconds, inputs, part, parts), Path(folder) / f"{area}-{part}.json")
            for area in areas
            for parts in (PARTS.get(area, 1),)
            for part in range(parts)
        ]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return merged(row for rows in pool.map(Job.run, jobs) for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
