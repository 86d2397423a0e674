"""`python -m tests.faults [AREA ...] [--seconds N] [--inputs N] [--json FILE]`: try everything, print one table."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from tests.faults.table import LONG, Scale, save, table

AREAS = ("kills", "disk", "processes", "outside", "links", "handed_over", "contents", "bills", "inputs", "words")
"""The modules here that have a `run`, in the order of the table."""

RESULTS = Path("benchmarks/results/faults.json")


def main() -> int:
    """0 where everything that was tried ended as promised."""
    asked = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    asked.add_argument("area", nargs="*", choices=[*AREAS, []], default=AREAS)
    asked.add_argument("--seconds", type=float, default=LONG.seconds)
    asked.add_argument("--inputs", type=int, default=LONG.inputs)
    asked.add_argument("--json", type=Path, default=RESULTS)
    chosen = asked.parse_args()
    rows = []
    for area in chosen.area:
        print(f"{area} ...", file=sys.stderr, flush=True)
        rows += import_module(f"tests.faults.{area}").run(Scale(chosen.seconds, chosen.inputs))
    print(table(rows))
    save(rows, chosen.json)
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
