"""Whether hostile files slow down requests about other files: one MCP server, the official client, six hostile files at work.

The same good requests are timed undisturbed and disturbed, in turns, so that only their ratio counts, not the machine.
`python -m tests.faults.neighbors` prints the figures of each kind of request.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median, quantiles

import anyio
from attrs import define, field, frozen
from mcp import Client, MCPError, StdioServerParameters

from citekit.container import bootstrap
from citekit.domain.formats import by_name
from citekit.domain.locations import Lines, Location, Pages
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.settings import settings_from
from citekit.wire import maps
from tests.faults.bill_shapes import SHAPES
from tests.faults.table import BRIEF, Row, Scale

AREA = "neighbors"

HOSTILE = ("forms", "shared content", "many words", "cells", "quoted heredocs", "type arguments")
"""The shapes that are worked on at the same time."""

GOAL = 2.0
"""How much longer the 95th percentile of a good request may be while hostile files are worked on."""

GENEROUS = 10.0
"""The same of few requests, where other programs use the machine, too."""

FLOOR = 0.05
"""Seconds: a request that takes less is compared as if it took so long, because a scheduler's turn is not much shorter."""

PARTS = 40
"""Nodes of a hostile file."""

SAMPLE = Path(sys.modules["citekit"].__path__[0]) / "samples" / "r-intro.pdf"
PAGES = 100
"""Pages of the sample that are cut, each once."""

Ask = Callable[[Client], Awaitable[bool]]


@frozen
class Pace:
    """Seconds that each good request of one kind took, undisturbed and disturbed; `failed` counts wrong answers."""

    name: str
    quiet: Sequence[float]
    disturbed: Sequence[float]
    failed: int = 0

    @property
    def ratio(self) -> float:
        """The ratio of the 95th percentiles; the undisturbed one counts as at least `FLOOR`."""
        return p95(self.disturbed) / max(p95(self.quiet), FLOOR)

    @property
    def typical_ratio(self) -> float:
        """The ratio of the medians, likewise. Of few requests, a 95th percentile is the slowest, whatever slowed it down."""
        return median(self.disturbed) / max(median(self.quiet), FLOOR)

    def __str__(self) -> str:
        figures = [
            f"{1000 * median(each):.0f}/{1000 * p95(each):.0f}/{1000 * max(each):.0f}"
            for each in (self.quiet, self.disturbed)
        ]
        return f"{self.name} {figures[0]} ms, disturbed {figures[1]} ms (median/p95/max), ratio {self.ratio:.1f}"


def p95(seconds: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]


@define
class Neighbors:
    """A home with good and hostile files, and what was measured there."""

    home: Path
    hostile: Mapping[str, Path]
    _pages: count[int] = field(factory=lambda: count(2), init=False)
    quiet: dict[str, list[float]] = field(factory=dict, init=False)
    disturbed: dict[str, list[float]] = field(factory=dict, init=False)
    onset: dict[str, list[float]] = field(factory=dict, init=False)
    """Seconds of the first good requests after all hostile ones began at once: they wait for children that start."""
    failed: Counter[str] = field(factory=Counter, init=False)
    done: Counter[str] = field(factory=Counter, init=False)
    """How many hostile requests ended, by file."""

    @classmethod
    def laid(cls, home: Path, names: Sequence[str] = HOSTILE) -> Neighbors:
        """Good files mapped as usual; hostile ones with a map written by hand, whatever mapping them would say."""
        kit = bootstrap(settings_from({"CITEKIT_MAPPER": "local", "CITEKIT_OCR": "off"}, home))
        manual = Path(shutil.copy(SAMPLE, home / "manual.pdf"))
        kit.ingest(manual, wanted_id="manual")
        notes = home / "notes.txt"
        notes.write_text("".join(f"This is line {number} of the notes.\n" for number in range(1, 400)))
        kit.ingest(notes, wanted_id="notes")
        shapes = {shape.name: shape for shape in SHAPES}
        hostile = {}
        for number, name in enumerate(names):
            path = home / f"hostile{number}{Path(shapes[name].file).suffix}"
            path.write_bytes(shapes[name].make())
            write_map(home, f"hostile{number}", path, path.read_bytes())
            write_map(home, f"stale{number}", path, b"what was there before")
            hostile[f"hostile{number}"] = path
        return cls(home, hostile)

    async def measure(self, rounds: int, turns: int = 2) -> None:
        """Time `rounds` of good requests undisturbed and as many disturbed, in `turns` turns."""
        settings = {"CITEKIT_MAPPER": "local", "CITEKIT_OCR": "off"}
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "citekit", "serve", "--home", str(self.home)],
            env={**os.environ, **settings},
        )
        async with Client(server) as client:
            for request in self._good().values():  # what is done once for each process
                await request(client)
            for _ in range(turns):
                await self._rounds(client, rounds // turns, self.quiet)
                async with anyio.create_task_group() as group:
                    for name in self.hostile:
                        group.start_soon(self._disturb, client, name)
                    await anyio.sleep(0.5)
                    await self._rounds(client, 2, self.onset)
                    await self._rounds(client, rounds // turns, self.disturbed)
                    group.cancel_scope.cancel()

    def paces(self) -> list[Pace]:
        """What was measured, by kind of request."""
        return [Pace(name, self.quiet[name], self.disturbed[name], self.failed[name]) for name in self.quiet]

    async def _rounds(self, client: Client, rounds: int, times: dict[str, list[float]]) -> None:
        for _ in range(rounds):
            for name, request in self._good().items():
                begun = time.monotonic()
                is_right = await request(client)
                times.setdefault(name, []).append(time.monotonic() - begun)
                self.failed[name] += not is_right

    def _good(self) -> dict[str, Ask]:
        page = 2 + next(self._pages) % PAGES
        return {
            "getNode": _call("getNode", resource_id="hostile0", node_id="part-1"),
            "resolve": _call("resolve", resource_id="manual", node_id=f"doc://manual#pages={page}"),
            "verifyQuote": _call("verifyQuote", resource_id="manual", quote="An Introduction to R"),
            "verifyQuote in a text": _call("verifyQuote", resource_id="notes", quote=f"line {page} of the notes"),
        }

    async def _disturb(self, client: Client, name: str) -> None:
        """Ask for quotes, parts, and a new map, again and again."""
        path = self.hostile[name]
        stale = name.replace("hostile", "stale")
        for number in count():
            asked = (
                _call("verifyQuote", resource_id=name, quote="words that stand nowhere"),
                _call("resolve", resource_id=name, node_id=f"part-{1 + number % PARTS}"),
                _call("resolve", resource_id=stale, node_id="part-1", remap=True),
            )[number % 3]
            os.utime(path)  # a new state of the file: what it has cost before is not known of it
            with suppress(MCPError):
                await asked(client)
            self.done[name] += 1
            await anyio.sleep(0.01)


def _call(tool: str, **arguments: object) -> Ask:
    async def ask(client: Client) -> bool:
        return not (await client.call_tool(tool, arguments)).is_error

    return ask


def write_map(home: Path, resource_id: str, path: Path, data: bytes) -> None:
    """Store a map of `path` that was written by hand, as if the file had the content `data`."""
    format = by_name(path.name)
    assert format is not None
    nodes = [Node(f"part-{at}", f"Part {at}", "section", _place(format.modality, at)) for at in range(1, PARTS + 1)]
    facts = {"source_hash": hashlib.sha256(data).hexdigest(), "source_size": len(data), "format": format.name}
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    made = ResourceMap(resource_id, format.modality, "Hostile", str(path), nodes, moment, facts)
    (home / ".resource_maps" / f"{resource_id}.json").write_text(maps.to_json(made), "utf-8")


def _place(modality: Modality, number: int) -> Location:
    return Lines(1, 1) if modality is Modality.TEXT else Pages.of([number])


def measured(rounds: int, names: Sequence[str] = HOSTILE, turns: int = 2) -> Neighbors:
    """What good requests take in a new home."""
    with tempfile.TemporaryDirectory(prefix="citekit-neighbors-") as folder:
        found = Neighbors.laid(Path(folder).resolve(), names)
        anyio.run(found.measure, rounds, turns)
    return found


def run(scale: Scale) -> Sequence[Row]:
    """One row for each kind of good request: how many there were, and all of them as survived if the ratio is kept.

    A brief run takes turns of three requests and compares medians, so that a change in the load of the machine meets both.
    """
    if scale.inputs <= BRIEF.inputs:
        return [_row(pace, pace.typical_ratio <= GENEROUS) for pace in measured(9, turns=3).paces()]
    return [_row(pace, pace.ratio <= GOAL) for pace in measured(60).paces()]


def _row(pace: Pace, is_within: bool) -> Row:
    tried = len(pace.disturbed)
    kept = tried - pace.failed if is_within else 0
    return Row(AREA, f"{pace.name} while six hostile files are worked on", tried, max(0, kept), str(pace))


if __name__ == "__main__":
    found = measured(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    for pace in found.paces():
        print(pace, f"{pace.failed} failed")
    print("first requests:", {name: f"{max(each):.1f} s" for name, each in found.onset.items()})
    print(f"hostile requests that ended: {found.done.total()}")
