"""How everything here is timed: interleaved rounds, medians, ratios within one run."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

RESULTS = Path(__file__).parent / "results"


@frozen
class Timing:
    """Milliseconds of one contestant, and how many times the baseline's median its own is."""

    name: str
    median: float
    p95: float
    ratio: float


def compare(contestants: Mapping[str, Callable[[], object]], rounds: int) -> list[Timing]:
    """Each contestant once a round, in turn, so that a noisy moment hits all; the first is the baseline."""
    spent: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            spent[name].append((time.perf_counter() - started) * 1000)
    base = statistics.median(next(iter(spent.values())))
    return [_timing(name, sorted(values), base) for name, values in spent.items()]


def _timing(name: str, values: list[float], base: float) -> Timing:
    median = statistics.median(values)
    return Timing(name, median, values[min(len(values) - 1, int(len(values) * 0.95))], median / base if base else 0.0)


def report(question: str, tables: Mapping[str, list[Timing]]) -> None:
    """Print the tables, and write them as JSON beside the description of the machine."""
    print(f"\n{question}")
    for title, timings in tables.items():
        print(f"\n  {title:44} {'median ms':>10} {'p95 ms':>10} {'ratio':>8}")
        for timing in timings:
            print(f"    {timing.name:42} {timing.median:10.2f} {timing.p95:10.2f} {timing.ratio:8.2f}")
    RESULTS.mkdir(exist_ok=True)
    plain: dict[str, Any] = {title: [asdict(timing) for timing in timings] for title, timings in tables.items()}
    machine = {"python": platform.python_version(), "system": platform.platform(), "processor": platform.machine()}
    name = question.split(":")[0].lower().replace(" ", "_")
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine, "tables": plain}, indent=1), "utf-8")
