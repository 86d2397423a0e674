"""`python -m benchmarks [question ...] [--quick]`: every question in turn, and then the goals."""

from __future__ import annotations

import importlib
import sys
import time

from benchmarks import peer, targets
from benchmarks.measuring import fewer
from benchmarks.report import QUESTIONS, read


def main() -> None:
    """Ask the questions that are named, or all; with `--page`, a full run is also written into the page."""
    began = time.perf_counter()
    if peer.missing() is not None:
        print(peer.note())
    asked = [name for name in sys.argv[1:] if not name.startswith("-")] or QUESTIONS
    for question in asked:
        importlib.import_module(f"benchmarks.{question}").main()
    targets.main()
    took = {name: (read(name) or {}).get("seconds", 0.0) for name in asked}
    print("\nseconds:", ", ".join(f"{name} {seconds:.0f}" for name, seconds in took.items()), end="")
    print(f"; all {time.perf_counter() - began:.0f}")
    if fewer(usual=True, quick=False) and "--page" in sys.argv:
        importlib.import_module("benchmarks.page").main()


if __name__ == "__main__":
    main()
