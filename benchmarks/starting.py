"""Start: from spawning a process to its first answer, against bare scripts of the same libraries, and against the peer.

python -m benchmarks.starting [--quick]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks import peer
from benchmarks.client import Client, tool
from benchmarks.homes import ASKED, home
from benchmarks.imports import LATER, imported
from benchmarks.measuring import Own, Spent, fewer, interleaved, ratio
from benchmarks.places import ROOT, scratch
from benchmarks.report import Report, Table

ROUNDS = fewer(11, 3)
SECONDS = fewer(6.0, 4.0)
GET_NODE = tool("getNode", resource_id=ASKED, node_id="part_3.section_4")
CITEKIT: list[str | Path] = [Path(sys.executable).with_name("citekit")]
BARE_SERVER: list[str | Path] = [sys.executable, "-m", "benchmarks.bare_server"]


def main() -> None:
    """The tables."""
    report = Report("starting", "Start: from spawning the process, milliseconds")
    _servers(report)
    _commands(report)
    _imports(report)
    report.finish()


def _servers(report: Report) -> None:
    folder = home(*fewer((1_000, 200), (10, 200))).folder
    theirs: list[str | Path] = [peer.PYTHON, "-m", "citekit.mcp_server"]
    contestants: dict[str, tuple[Sequence[str | Path], bytes, Path, Mapping[str, str]]] = {
        "bare script": (BARE_SERVER, tool("empty"), ROOT, {}),
        "ours": ([*CITEKIT, "--home", folder, "serve"], GET_NODE, ROOT, {}),
    }
    if peer.missing() is None:
        contestants["peer"] = theirs, GET_NODE, folder, peer.environment()
    for what, answered in (("initialized", False), ("first answer", True)):
        spent = interleaved(
            {name: _served(*each, answered) for name, each in contestants.items()}, ROUNDS, seconds=SECONDS
        )
        table = report.table(f"serve: spawn to {what}", "server", "median", "p95", "to bare script")
        _rows(table, spent, "bare script")
        table.notes.append(peer.note())
        report.fact(f"{what}: to bare", ratio(spent["ours"], spent["bare script"]))
        report.fact(f"{what}: ms", spent["ours"].median)
        report.fact(f"{what}: peer ms", spent["peer"].median if "peer" in spent else None)


def _served(
    command: Sequence[str | Path], request: bytes, cwd: Path, environment: Mapping[str, str], answered: bool
) -> Callable[[], Own]:
    def run() -> Own:
        began = time.perf_counter()
        with Client(command, cwd=cwd, **environment) as client:
            seconds = client.started
            if answered:
                client.send(request)
                seconds = time.perf_counter() - began
            client.process.kill()
        return Own(seconds)

    return run


def _commands(report: Report) -> None:
    with scratch() as empty:
        homes = {"an empty home": empty}
        for maps in fewer((10, 1_000), (10,)):
            homes[f"{maps:,} maps"] = home(maps, 200).folder
        contestants = {
            "python -c pass": _ended([sys.executable, "-c", "pass"], empty),
            "python -c 'import click'": _ended([sys.executable, "-c", "import click"], empty),
            "--help": _ended([*CITEKIT, "--help"], empty),
        }
        for name, folder in homes.items():
            contestants[f"list, {name}"] = _ended([*CITEKIT, "list"], folder)
        last = list(homes)[-1]
        contestants["resolve --virtual"] = _ended(
            [*CITEKIT, "resolve", ASKED, "part_3.section_4", "--virtual"], homes[last]
        )
        if peer.missing() is None:
            program: list[str | Path] = [peer.PYTHON, "-m", "citekit"]
            contestants["peer: --help"] = _ended([*program, "--help"], empty)
            contestants[f"peer: list, {last}"] = _ended([*program, "list"], homes[last])
        spent = interleaved(contestants, ROUNDS, seconds=1.6 * SECONDS)
    table = report.table("citekit: spawn to exit", "command", "median", "p95", "to import click")
    base = "python -c 'import click'"
    _rows(table, spent, base)
    table.notes.append(peer.note())
    for name, each in spent.items():
        report.fact(f"{name}: to click", ratio(each, spent[base]))
        report.fact(f"{name}: ms", each.median)


def _ended(command: Sequence[str | Path], cwd: Path) -> Callable[[], object]:
    return lambda: subprocess.run(
        command,
        cwd=cwd,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "100"},
    )


def _imports(report: Report) -> None:
    table = report.table(
        "python -X importtime: what is imported before it is needed", "command", "modules", "import ms", "too early"
    )
    place = home(10, 200).folder
    with scratch() as empty:
        for name, arguments in (
            ("--help", ["--help"]),
            ("list", ["--home", str(place), "list"]),
            ("serve", ["--home", str(empty), "serve"]),
        ):
            found = imported(["-m", "citekit", *arguments])
            early = sorted(found.tops & LATER - ({"mcp"} if name == "serve" else set()))
            table.row(name, len(found.names), found.milliseconds, ", ".join(early) or "nothing")
            report.fact(f"{name}: forbidden imports", len(early))
    table.notes.append(f"Looked for: {', '.join(sorted(LATER))}; serve needs mcp.")


def _rows(table: Table, spent: Mapping[str, Spent], base: str) -> None:
    for name, each in spent.items():
        table.row(name, each.median, each.p95, ratio(each, spent[base]))


if __name__ == "__main__":
    main()
