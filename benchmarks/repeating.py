"""Repeat: the same evidence for the second time, in the same process and a new one, by many clients, in a large cache.

python -m benchmarks.repeating [--quick]
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from benchmarks import clones, peer
from benchmarks.client import Client, tool
from benchmarks.cutting import ID, Bench, bench
from benchmarks.homes import ASKED, home
from benchmarks.measuring import Spent, fewer, interleaved, ratio
from benchmarks.places import ROOT, scratch
from benchmarks.report import Report
from benchmarks.tasks import Task, tasks
from citekit import CiteKit

ROUNDS = fewer(200, 10)
CALLS = fewer(300, 40)
OBJECTS = fewer((10, 10_000, 1_000_000), (10, 1_000))
CLIENTS = (1, 8)
CITEKIT = Path(sys.executable).with_name("citekit")
NODE = "part_3.section_4"


def main() -> None:
    """The tables."""
    report = Report("repeating", "Repeat: the same evidence again, milliseconds")
    _kinds(report)
    _clients(report)
    _sizes(report)
    report.finish()


def _kinds(report: Report) -> None:
    table = report.table(
        "a second time", "what", "same process", "p95", "new process", "peer, same process", "peer to ours"
    )
    for task in tasks():
        with scratch() as folder, ExitStack() as stack:
            ours = bench(task, folder / "ours")
            ours.resolve(1)
            asked: dict[str, Callable[[], object]] = {"ours": _again(ours)}
            theirs = peer.cutting(ours.home, folder / "peer", stack) if task.of_peer else None
            if theirs is not None:
                asked["peer"] = _of_peer(theirs)
            spent = interleaved(asked, ROUNDS, seconds=fewer(1.0, 0.3), warm=3)
            command = interleaved({"new": _command(ours, task)}, fewer(3, 1), seconds=2.0)["new"]
            other = spent.get("peer")
            table.row(
                task.name,
                spent["ours"].median,
                spent["ours"].p95,
                command.median,
                other.median if other else None,
                ratio(other, spent["ours"]),
            )
            report.fact(f"{task.name}: again ms", spent["ours"].median)
    table.notes.append(f"{peer.note()}; its second time looks whether a file of that name is there.")


def _again(ours: Bench) -> Callable[[], object]:
    return lambda: ours.resolve(1)


def _next(ours: Bench, numbers: Iterator[int]) -> Callable[[], object]:
    return lambda: ours.resolve(next(numbers))


def _of_peer(theirs: peer.Cutting) -> Callable[[], object]:
    return lambda: theirs.again(ID, "n1")


def _command(ours: Bench, task: Task) -> Callable[[], object]:
    accurate = ["--accurate"] if task.accurate else []
    command: list[str | Path] = [CITEKIT, "--home", ours.home, "resolve", ID, "n1", *accurate]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _clients(report: Report) -> None:
    """Each client has a server process of its own on the same home, as every client of an agent host has."""
    place = home(*fewer((1_000, 200), (10, 200)))
    table = report.table(
        "the same resolve over MCP, by clients at once",
        "clients",
        "median",
        "p95",
        "empty tool",
        "to empty",
        "calls a second",
    )
    for count in CLIENTS:
        with ExitStack() as stack:
            command: list[str | Path] = [sys.executable, "-m", "benchmarks.empty_tools", place.folder]
            servers = [stack.enter_context(Client(command, cwd=ROOT)) for _ in range(count)]
            spent, seconds = _at_once(servers)
        ours, empty = (Spent(itertools.chain.from_iterable(each)) for each in spent)
        table.row(count, ours.median, ours.p95, empty.median, ratio(ours, empty), ours.rounds / seconds)
        report.fact(f"{count} clients: to empty", ratio(ours, empty))
        report.fact(f"{count} clients: ms", ours.median)


def _at_once(servers: list[Client]) -> tuple[tuple[list[list[float]], list[list[float]]], float]:
    """Milliseconds of every call of every client, ours and empty; and seconds that ours took, all together."""
    asked, empty = tool("resolve", resource_id=ASKED, node_id=NODE), tool("empty")
    barrier, results = (
        threading.Barrier(len(servers)),
        ([list[float]() for _ in servers], [list[float]() for _ in servers]),
    )

    def work(number: int) -> None:
        for _ in range(20):
            servers[number].send(asked)
        for into, request in zip(results, (asked, empty), strict=True):
            barrier.wait()
            for _ in range(CALLS):
                began = time.perf_counter()
                servers[number].send(request)
                into[number].append(1000 * (time.perf_counter() - began))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(servers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, max(map(sum, results[0])) / 1000


def _sizes(report: Report) -> None:
    """The same in caches of more and more objects."""
    table = report.table(
        "in a cache of so many objects",
        "objects",
        "repeated resolve",
        "p95",
        "new process",
        "first resolve",
        "to the smallest",
        "made in s",
    )
    task, smallest, before = next(each for each in tasks() if each.name.startswith("text, 40 lines of 9")), None, 0
    with scratch() as folder:
        ours = bench(task, folder / "ours")
        evidence = ours.resolve(1)
        fresh = itertools.count(2)
        for count in OBJECTS:
            began = time.perf_counter()
            clones.multiply(ours.home / ".citekit_cache", evidence, count, before)
            made, before = time.perf_counter() - began, count
            now = Bench(task, ours.home, CiteKit(ours.home))
            spent = interleaved(
                {"again": _again(now), "first": _next(now, fresh)},
                fewer(40, 5),
                seconds=4.0,
                warm=2,
            )
            command = interleaved({"new": _command(now, task)}, fewer(7, 2), seconds=5.0)["new"]
            smallest = smallest or spent["again"]
            again = spent["again"]
            table.row(
                count, again.median, again.p95, command.median, spent["first"].median, ratio(again, smallest), made
            )
            report.fact(f"{count} objects: again to smallest", ratio(again, smallest))
            report.fact(f"{count} objects: again ms", again.median)
            report.fact(f"{count} objects: first ms", spent["first"].median)
            report.fact(f"{count} objects: new process ms", command.median)


if __name__ == "__main__":
    main()
