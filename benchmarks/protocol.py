"""Protocol: what each tool costs over stdio, against tools of the same server that do nothing, and against the peer.

    python -m benchmarks.protocol [--quick]

Every round asks everybody once, so that all share the same moments. `empty` returns a short text; `same length` one of as
many characters as the answer beside it, kept ready; `bare server` is the empty tool of a script that is nothing but the
SDK. One client, one request at a time, from writing the request to having the line of the answer.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from attrs import define

from benchmarks import peer
from benchmarks.client import Client, call, text_of, tool
from benchmarks.homes import ASKED, Home, home
from benchmarks.measuring import Spent, fewer, interleaved, ratio
from benchmarks.places import ROOT
from benchmarks.report import Report, Table

SIZES = fewer(((10, 200), (1_000, 200), (100_000, 10)), ((10, 200), (300, 20)))
ROUNDS = fewer(300, 30)
SECONDS = fewer(1.2, 0.5)
NODE = "part_3.section_4"

_NAMED = {"resource_id": ASKED, "node_id": NODE}
REQUESTS = {
    "listResources": tool("listResources"),
    "getStructure (200 nodes)": tool("getStructure", resource_id=ASKED),
    "getNode": tool("getNode", **_NAMED),
    "resolve, virtual": tool("resolve", **_NAMED, virtual=True),
    "resolve, repeated": tool("resolve", **_NAMED),
    "resources/list": call("resources/list"),
    "resources/read": call("resources/read", {"uri": f"citekit://maps/{ASKED}"}),
    "tools/list": call("tools/list"),
    "ping": call("ping"),
}
OF_PEER = frozenset(name for name in REQUESTS if "/" not in name)
LONG = frozenset({"listResources", "getStructure (200 nodes)", "resources/list", "resources/read", "tools/list"})


@define
class Servers:
    """Everybody who is asked, on one home."""

    ours: Client
    bare: Client
    peer: Client | None


def main() -> None:
    """The tables."""
    report = Report("protocol", "Protocol: one request over stdio, milliseconds")
    for maps, nodes in SIZES:
        _one_size(report, home(maps, nodes), maps)
    report.finish()


def _one_size(report: Report, place: Home, maps: int) -> None:
    with ExitStack() as stack:
        ours = stack.enter_context(Client([sys.executable, "-m", "benchmarks.empty_tools", place.folder], cwd=ROOT))
        bare = stack.enter_context(Client([sys.executable, "-m", "benchmarks.bare_server"], cwd=ROOT))
        other = peer.serving(place.folder)
        if other is not None:
            stack.enter_context(other)
        servers = Servers(ours, bare, other)
        table = report.table(
            f"{maps:,} maps",
            "request",
            "ours",
            "p95",
            "empty",
            "same length",
            "to empty",
            "to same length",
            "to a line as long",
            "peer",
            "peer to ours",
            "kB",
        )
        for name, request in REQUESTS.items():
            _one_request(report, table, servers, name, request, maps)
        _cold(report, table, servers, place, maps)
        table.notes.append(f"{peer.note()}. 'To a line as long': against a tool whose whole line has as many bytes.")


def _one_request(report: Report, table: Table, servers: Servers, name: str, request: bytes, maps: int) -> None:
    line = servers.ours.send(request)
    asked: dict[str, Callable[[], object]] = {
        "ours": lambda: servers.ours.send(request),
        "empty": lambda: servers.ours.send(_EMPTY),
    }
    others = {**asked, "bare server": lambda: servers.bare.send(_EMPTY)}
    if name in LONG:
        same, long = tool("same_length", length=_length(name, line)), tool("same_length", length=len(line) // 2)
        asked["same length"] = lambda: servers.ours.send(same)
        asked["as long"] = lambda: servers.ours.send(long)
    if servers.peer is not None and name in OF_PEER:
        theirs = servers.peer
        others["peer"] = lambda: theirs.send(request)
    spent = interleaved(asked, ROUNDS, seconds=SECONDS, warm=3)
    beside = interleaved(others, ROUNDS, seconds=SECONDS, warm=3)  # by themselves: other processes take the caches
    _row(table, name, spent, len(line), beside)
    key = f"{name.split(' (')[0].replace(', ', ' ')} at {maps}"
    report.fact(f"{key}: to empty", ratio(spent["ours"], spent["empty"]))
    report.fact(f"{key}: to same length", ratio(spent["ours"], spent.get("same length")))
    report.fact(f"{key}: ms", spent["ours"].median)
    report.fact(f"{key}: peer ms", beside["peer"].median if "peer" in beside else None)
    report.fact(f"empty at {maps}: ms", spent["empty"].median)
    report.fact(f"empty at {maps}: to a bare server", ratio(beside["empty"], beside["bare server"]))


def _cold(report: Report, table: Table, servers: Servers, place: Home, maps: int) -> None:
    """Nodes of maps that were not read before: each is read from its file."""
    numbers = iter(random.Random(5).sample(range(place.maps), min(place.maps, ROUNDS)))
    prepared = [tool("getNode", resource_id=place.resource(n), node_id=place.node(n)) for n in numbers]
    ours, theirs = iter(prepared), itertools.cycle(prepared)
    asked: dict[str, Callable[[], object]] = {
        "ours": lambda: servers.ours.send(next(ours)),
        "empty": lambda: servers.ours.send(_EMPTY),
    }
    if servers.peer is not None:
        other = servers.peer
        asked["peer"] = lambda: other.send(next(theirs))
    spent = interleaved(asked, len(prepared), seconds=SECONDS, warm=0)
    _row(table, f"getNode, map not read before ({place.nodes} nodes)", spent, None, spent)
    report.fact(f"getNode cold at {maps}: ms", spent["ours"].median)


def _row(table: Table, name: str, spent: Mapping[str, Spent], size: int | None, beside: Mapping[str, Spent]) -> None:
    """`beside` is what was measured together with other servers."""
    ours, same, theirs = spent["ours"], spent.get("same length"), beside.get("peer")
    table.row(
        name,
        ours.median,
        ours.p95,
        spent["empty"].median,
        same.median if same else None,
        ratio(ours, spent["empty"]),
        ratio(ours, same),
        ratio(ours, spent.get("as long")),
        theirs.median if theirs else None,
        ratio(theirs, beside["ours"]),
        None if size is None else size / 1000,
    )


def _length(name: str, line: bytes) -> int:
    """Characters of the answer's text; of the whole line where the answer has none."""
    return len(line) if name in ("tools/list", "resources/list") else len(text_of(line))


_EMPTY = tool("empty")

if __name__ == "__main__":
    main()
