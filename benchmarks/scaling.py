"""Scale: memory of a server with 100,000 maps, searching a million nodes, and a store of evidence that never grows too large.

    python -m benchmarks.scaling [--quick] [--full]

`--full` also searches in 100,000 maps of 10 nodes, whose words take some minutes to index the first time.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sys
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from attrs import define

from benchmarks.client import Client, tool
from benchmarks.homes import Home, home, questions
from benchmarks.measuring import Spent, fewer
from benchmarks.places import ROOT, once, scratch
from benchmarks.report import Report
from benchmarks.searching_process import Searching
from citekit import CiteKit

LARGEST = fewer((100_000, 10), (300, 20))
LIBRARIES = fewer(((10, 200), (500, 200), (5_000, 200)), ((10, 200), LARGEST))
if "--full" in sys.argv:
    LIBRARIES = (*LIBRARIES, LARGEST)
LOOKS = fewer(300, 40)
QUESTIONS = fewer(150, 10)
PATIENCE = fewer(5.0, 2.0)
CHURNED = fewer(600, 100)
CITEKIT = Path(sys.executable).with_name("citekit")


def main() -> None:
    """The tables."""
    report = Report("scaling", "Scale")
    _memory(report, home(*LARGEST))
    _searches(report)
    _churn(report)
    report.finish()


def _memory(report: Report, place: Home) -> None:
    table = report.table(f"memory of a server with {LARGEST[0]:,} maps, MB", "after", "now", "at most so far")
    numbers = random.Random(11).sample(range(place.maps), min(place.maps, 2 * LOOKS))
    with Client([CITEKIT, "--home", place.folder, "serve"], cwd=ROOT) as server:

        def note(after: str) -> None:
            memory = server.memory()
            table.row(after, memory["VmRSS"], memory["VmHWM"])
            report.fact(f"memory after {after}: MB", memory["VmRSS"])
            report.fact("memory at most: MB", memory["VmHWM"])

        note("the start")
        server.send(tool("listResources"))
        note("listResources")
        for n in numbers[:LOOKS]:
            server.send(tool("getNode", resource_id=place.resource(n), node_id=place.node(n)))
        note(f"{LOOKS} times getNode")
        for n in numbers[LOOKS:]:
            server.send(tool("getStructure", resource_id=place.resource(n)))
        note(f"{LOOKS} times getStructure")
    table.notes.append("Each look is into another map. A process that searches is in the next table.")


def _searches(report: Report) -> None:
    table = report.table(
        "search over all titles and summaries, milliseconds",
        "maps",
        "nodes",
        "first ever",
        "first in a process",
        "p50",
        "p95",
        "process MB",
    )
    for maps, nodes in LIBRARIES:
        place = home(maps, nodes)
        ever = once(place.folder / "searched", partial(_first_ever, place))
        first, spent, memory = _searching(place)
        table.row(maps, maps * nodes, ever, first, spent.median, spent.p95, memory)
        report.fact(f"search of {maps}x{nodes}: p50 ms", spent.median)
        report.fact(f"search of {maps}x{nodes}: p95 ms", spent.p95)
        report.fact(f"search of {maps}x{nodes}: nodes", maps * nodes)
    table.notes.append(
        "Questions of one to three words, as frequent as in the texts; the first ever reads every map, and "
        "is reported as it was in a new home."
    )


def _first_ever(place: Home) -> float:
    shutil.rmtree(place.folder / ".citekit_cache", ignore_errors=True)
    with Searching(place.folder) as before:
        return before.search(questions(1)[0])


def _searching(place: Home) -> tuple[float, Spent, float]:
    """In a process of its own: milliseconds of the first search of the process, and of the others; and MB."""
    with Searching(place.folder) as process:
        asked = questions(QUESTIONS + 1)
        first = process.search(asked[0])
        began, spent = time.perf_counter(), []
        for words in asked[1:]:
            spent.append(process.search(words))
            if time.perf_counter() - began > PATIENCE:
                break
        return first, Spent(spent), process.memory()


@define
class Hurried:
    """A `Clock` that is five seconds later at every look: what was just given is soon old enough to be dropped."""

    seconds: float = 0.0

    def now(self) -> datetime:
        """Later than the machine's."""
        self.seconds += 5.0
        return datetime.now(UTC) + timedelta(seconds=self.seconds)


def _churn(report: Report) -> None:
    """More and more evidence in a store of a small limit."""
    limit = fewer(200_000, 20_000)
    table = report.table(
        f"a store of at most {limit / 1000:,.0f} kB, {CHURNED:,} pieces of evidence made",
        "pace",
        "made kB",
        "largest on disk kB",
        "allowed kB",
        "ms a piece",
    )
    for pace, clock in (("a piece every few seconds", Hurried()), ("as fast as it goes", None)):
        with scratch() as folder:
            made, largest, piece, seconds = _churned(folder, limit, clock)
        table.row(pace, made / 1000, largest / 1000, (limit + piece) / 1000, 1000 * seconds / CHURNED)
        report.fact(f"churn, {pace}: largest to allowed", largest / (limit + piece))
    table.notes.append("What was given in the last ten seconds stays, so that the caller can still copy it.")


def _churned(folder: Path, limit: int, clock: Hurried | None) -> tuple[int, int, int, float]:
    from citekit.container import bootstrap
    from citekit.container.ports import Ports
    from citekit.settings import settings_from

    text = folder / "log.txt"
    text.write_text("".join(f"Line {number} of a log that grows.\n" for number in range(CHURNED * 30)), "utf-8")
    settings = settings_from({"CITEKIT_CACHE_LIMIT": str(limit)}, folder / "home")
    ports: Ports = {} if clock is None else {"clock": clock}
    app = bootstrap(settings, **ports)
    kit = CiteKit.__new__(CiteKit)
    kit.app = app
    kit.ingest(text)
    [name] = kit.resources()
    made = largest = piece = 0
    spent = 0.0
    for number in range(CHURNED):
        first = 1 + 29 * number
        began = time.perf_counter()
        evidence = kit.resolve(f"text://{name}#lines={first}-{first + 25}")
        spent += time.perf_counter() - began
        assert evidence.receipt is not None
        made += evidence.receipt.evidence_size
        piece = max(piece, evidence.receipt.evidence_size)
        if number % 10 == 0:
            largest = max(largest, _on_disk(folder / "home" / ".citekit_cache" / "evidence" / "objects"))
    return made, largest, piece, spent


def _on_disk(folder: Path) -> int:
    return sum(
        path.stat().st_size for path in itertools.chain(folder.glob("*/*"), folder.glob("*/*/*")) if path.is_file()
    )


if __name__ == "__main__":
    main()
