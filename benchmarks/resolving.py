"""Resolving: the first cut, the repeated one, and a virtual answer, for one sample of every kind."""

from __future__ import annotations

import itertools
import tempfile
from importlib.resources import files
from pathlib import Path

from benchmarks.measuring import Timing, compare, report
from citekit import CiteKit
from citekit.domain.evidence import Evidence

SAMPLES = ("r-intro.pdf", "PDDocument.java", "imageTextN.png", "lena.ogg", "run.mp4")


def main() -> None:
    """The tables."""
    tables = {}
    for name in SAMPLES:
        with tempfile.TemporaryDirectory() as home:
            tables[name] = _table(Path(home), Path(str(files("citekit") / "samples" / name)))
    report("Resolving: ratio to the repeated resolve", tables)


def _table(home: Path, sample: Path) -> list[Timing]:
    kit = CiteKit(home)
    made = kit.ingest(sample)
    node = list(made.walk())[min(3, made.node_count - 1)].id
    kit.resolve(made.resource_id, node)
    fresh = itertools.count()

    def first() -> Evidence:
        other = CiteKit(home / f"fresh{next(fresh)}")
        other.app.maps.put(made)
        return other.resolve(made.resource_id, node)

    return compare(
        {
            "repeated": lambda: kit.resolve(made.resource_id, node),
            "virtual": lambda: kit.resolve(made.resource_id, node, virtual=True),
            "first, in a new home": first,
            "ingest again, unchanged": lambda: kit.ingest(sample),
        },
        rounds=15,
    )


if __name__ == "__main__":
    main()
