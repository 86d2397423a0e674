"""`python -m tests.faults [AREA ...] [--seconds N] [--inputs N] [--json FILE]`: try everything, print one table.

Areas run side by side, one process for each processor; the long ones are split into parts that share their operations.
The rows of each finished part are kept until the whole run is done, so that an interrupted run, started again on the same
tree, does only the rest. A run of all areas ends by writing its table into docs/reference/promises.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from time import monotonic

from attrs import frozen

from tests.faults.results import Part, Results, fingerprint, load_part, save
from tests.faults.table import LONG, Row, Scale, merged, table

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
    "served",
    "inputs",
    "words",
)
"""The modules here that have a `run`, in the order of the table."""

PARTS = {"kills": 6, "disk": 4, "links": 2, "bills": 4}
"""Areas that share their operations among so many processes."""

ROOT = Path(__file__).parents[2]

RESULTS = ROOT / "benchmarks" / "results" / "faults.json"


@frozen
class Job:
    """One process: a part of an area. It writes its rows to `results`."""

    area: str
    scale: Scale
    results: Path

    @property
    def name(self) -> str:
        """The area and which part of it."""
        return f"{self.area} {self.scale.part + 1}/{self.scale.parts}"

    def run(self) -> Part:
        """What the part found. A process that ends without rows is a row that did not end as promised."""
        if self.results.exists():
            print(f"{self.name}: kept from the interrupted run", file=sys.stderr, flush=True)
            return load_part(self.results)
        command = [sys.executable, "-m", "tests.faults", self.area, "--json", str(self.results)]
        command += ["--seconds", str(self.scale.seconds), "--inputs", str(self.scale.inputs)]
        command += ["--part", str(self.scale.part), "--parts", str(self.scale.parts)]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL)
        if not self.results.exists():
            failed = Row(self.area, self.name, 1, 0, f"the harness itself ended with status {ended.returncode}")
            return Part([failed], 0.0, 0.0)
        part = load_part(self.results)
        print(
            f"{self.name}: {part.seconds:.0f} s, {part.processor:.0f} s of processor time", file=sys.stderr, flush=True
        )
        return part


def main() -> int:
    """0 if everything that was tried ended as promised."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("area", nargs="*", metavar="AREA", help=f"{', '.join(AREAS)} (default: all)")
    parser.add_argument("--seconds", type=float, default=LONG.seconds)
    parser.add_argument("--inputs", type=int, default=LONG.inputs)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--parts", type=int, default=1, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.area = asked.area or list(AREAS)
    if unknown := set(asked.area) - set(AREAS):
        parser.error(f"there is no area {', '.join(sorted(unknown))}; choose from {', '.join(AREAS)}")
    if asked.part is not None:
        part = one(asked.area[0], Scale(asked.seconds, asked.inputs, asked.part, asked.parts))
        save(part, asked.json)
        return 0 if all(row.kept for row in part.rows) else 1
    results = together(asked.area, asked.seconds, asked.inputs, asked.json.parent / "faults")
    print(table(results.rows))
    save(results, asked.json)
    if set(asked.area) == set(AREAS):
        page = ROOT / "docs" / "generate_faults.py"
        subprocess.run([sys.executable, str(page), "promises", str(asked.json.absolute())], check=True)
    return 0 if all(row.kept for row in results.rows) else 1


def one(area: str, scale: Scale) -> Part:
    """Run a part of an area in this process."""
    began = monotonic()
    rows = import_module(f"tests.faults.{area}").run(scale)
    return Part(list(rows), monotonic() - began, sum(os.times()[:4]))


def together(areas: Sequence[str], seconds: float, inputs: int, kept: Path) -> Results:
    """Run all parts of these areas, as many at once as there are processors.

    The rows of finished parts stay in a folder under `kept`, named after the tree and the scale, until all are done.
    """
    folder = kept / fingerprint(ROOT, [*areas, seconds, inputs])
    folder.mkdir(parents=True, exist_ok=True)
    for other in kept.iterdir():  # parts of other trees are of no use to this one
        if other != folder:
            shutil.rmtree(other)
    jobs = [
        Job(area, Scale(seconds, inputs, part, parts), folder / f"{area}-{part}.json")
        for area in areas
        for parts in (PARTS.get(area, 1),)
        for part in range(parts)
    ]
    longest_first = sorted(jobs, key=lambda job: job.scale.parts > 1)  # what is not split takes longest
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        found = dict(zip(longest_first, pool.map(Job.run, longest_first), strict=True))
    except KeyboardInterrupt:
        print("Interrupted. The parts that have ended are kept; the same command goes on from here.", file=sys.stderr)
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    shutil.rmtree(folder)
    parts = [found[job] for job in jobs]
    return Results(
        merged(row for part in parts for row in part.rows),
        sum(part.seconds for part in parts),
        sum(part.processor for part in parts),
        inputs,
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main())
