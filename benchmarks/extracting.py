"""Extraction, the first time: seconds and bytes against the peer, the bare libraries, and copying the same bytes.

    python -m benchmarks.extracting [--quick]

Every round cuts another part. `first cut` is of a source that this process has not opened before, in a home where it was
mapped and nothing of it was cut; `next cut` is another part of a source that it has; `citekit resolve` is a whole process.
The peer times itself inside a warm process. The bare libraries open the file, cut and write, and promise nothing else: no
receipt, no digest, no cache, no check that the file is the one that was mapped.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from attrs import define, field

from benchmarks import peer
from benchmarks.cutting import ID, NODES, Bench, bench, fresh
from benchmarks.measuring import Own, Spent, fewer, interleaved, ratio
from benchmarks.places import scratch
from benchmarks.report import Report
from benchmarks.tasks import Task, tasks
from citekit.domain.evidence import Evidence

ROUNDS = fewer(7, 2)
SECONDS = fewer(2.5, 1.0)
FIRST, NEXT, COMMAND, COPIED = "ours, first cut", "ours, next cut", "citekit resolve", "copying the bytes"


@define
class Contest:
    """Who cuts what; `sizes` are the bytes that each made last."""

    task: Task
    folder: Path
    ours: Bench
    unopened: Iterator[Bench]
    theirs: peer.Cutting | None
    example: Path
    sizes: dict[str, int] = field(factory=dict)
    numbers: dict[str, Iterator[int]] = field(factory=dict)

    def number(self, name: str, start: int) -> int:
        """The next place for that contestant."""
        return next(self.numbers.setdefault(name, itertools.count(start))) % NODES

    def first(self) -> None:
        """Ours, on a source of its own."""
        self._keep(FIRST, next(self.unopened).resolve(self.number(FIRST, 1)))

    def next(self) -> None:
        """Ours, again."""
        self._keep(NEXT, self.ours.resolve(self.number(NEXT, 60)))

    def command(self) -> None:
        """Ours, as a program."""
        name = f"n{self.number(COMMAND, 120)}"
        accurate = ["--accurate"] if self.task.accurate else []
        command: list[str | Path] = [
            Path(sys.executable).with_name("citekit"),
            "--home",
            self.ours.home,
            "resolve",
            ID,
            name,
            *accurate,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def peer(self) -> Own:
        """The peer."""
        assert self.theirs is not None
        seconds, self.sizes["peer"] = self.theirs.resolve(ID, f"n{self.number('peer', 1)}")
        return Own(seconds)

    def bare(self, name: str) -> None:
        """A library by itself."""
        number = self.number(name, 1)
        target = self.folder / f"bare-{len(self.sizes)}-{number}{self.task.material.path.suffix}"
        target.unlink(missing_ok=True)
        self.task.bare(self.task.material.path, self.task.place(number))[name](target)
        self.sizes[name] = target.stat().st_size

    def copied(self) -> None:
        """The same bytes, from a file to a file."""
        shutil.copyfile(self.example, self.folder / "copied")

    def _keep(self, name: str, evidence: Evidence) -> None:
        self.sizes[name] = _path(evidence).stat().st_size


def _path(evidence: Evidence) -> Path:
    assert evidence.output_path is not None
    return evidence.output_path


def main() -> None:
    """The tables."""
    report = Report("extracting", "Extraction, the first time")
    for task in tasks():
        with scratch() as folder, ExitStack() as stack:
            _one(report, task, folder, stack)
    report.finish()


def _one(report: Report, task: Task, folder: Path, stack: ExitStack) -> None:
    ours = bench(task, folder / "ours")
    theirs = peer.cutting(ours.home, folder / "peer", stack) if task.of_peer else None
    example = _path(ours.resolve(0))
    contest = Contest(
        task,
        folder,
        ours,
        itertools.cycle(fresh(task, folder, ROUNDS + 1)),
        theirs,
        example,
        {COPIED: example.stat().st_size},
    )
    contestants: dict[str, Callable[[], object]] = {FIRST: contest.first, NEXT: contest.next, COMMAND: contest.command}
    if theirs is not None:
        contestants["peer"] = contest.peer
    libraries = list(task.bare(task.material.path, task.place(0)))
    contestants |= {name: _bare(contest, name) for name in libraries}
    contestants[COPIED] = contest.copied
    spent = interleaved(contestants, ROUNDS, seconds=SECONDS, least=fewer(task.rounds, 2))
    _told(report, task, contest, spent, libraries)


def _bare(contest: Contest, name: str) -> Callable[[], object]:
    return lambda: contest.bare(name)


def _told(report: Report, task: Task, contest: Contest, spent: Mapping[str, Spent], libraries: list[str]) -> None:
    fastest = min((spent[name] for name in libraries), key=lambda each: each.median)
    table = report.table(
        f"{task.name}: {task.material.origin}", "who", "median ms", "p95", "first cut to it", "next cut to it", "kB"
    )
    for name, each in spent.items():
        size = contest.sizes.get(name)
        table.row(
            name,
            each.median,
            each.p95,
            ratio(spent[FIRST], each),
            ratio(spent[NEXT], each),
            size / 1000 if size else None,
        )
    if "peer" not in spent:
        table.notes.append("The peer cannot cut this." if peer.missing() is None else peer.note())
    key = task.name
    report.fact(f"{key}: first to fastest bare", ratio(spent[FIRST], fastest))
    report.fact(f"{key}: next to fastest bare", ratio(spent[NEXT], fastest))
    report.fact(f"{key}: times faster than peer", ratio(spent.get("peer"), spent[FIRST]))
    report.fact(f"{key}: next, times faster than peer", ratio(spent.get("peer"), spent[NEXT]))
    report.fact(f"{key}: ms", spent[FIRST].median)
    report.fact(f"{key}: MB", task.material.path.stat().st_size / 1e6)


if __name__ == "__main__":
    main()
