"""What expensive files cost an MCP server: the real server and the official client, with the limits of the sandbox.

For each file, the server maps it, cuts a part of it in each form, and looks for a quote. Each request may take the limits of a
small file and a surcharge for the processes themselves, and ends in an answer or in one sentence. A request about another
file, sent at the same time, is answered. `python -m tests.faults.served [FILE ...]` prints the bill of files, or of the shapes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from attrs import define, field, frozen
from mcp import Client, MCPError, StdioServerParameters

from citekit.container import bootstrap
from citekit.settings import settings_from
from tests.faults.bill_meter import MEGABYTES, SECONDS
from tests.faults.bill_shapes import SHAPES, Shape
from tests.faults.neighbors import SAMPLE, write_map
from tests.faults.table import BRIEF, Row, Scale

AREA = "served"

SURCHARGE = 2.5
"""Seconds of processor time beyond the limit of a file: starting workers, and reading and storing the map in the server."""

IDLE_MEGABYTES = 300
"""What a process holds before it reads a file, at most."""

PATIENCE = 120.0
"""Seconds of the clock after which a request counts as stuck."""

NAMES = (
    "very many headings",
    "entries of the contents",
    "headings of Word",
    "areas",
    "forms",
    "cells",
    "quoted heredocs",
    "type arguments",
    "sections",
)
"""The shapes that are tried: those that take longest, or are refused."""

BRIEF_NAMES = ("very many headings", "quoted heredocs")
"""The shapes that the suite tries."""

FORMS: Mapping[str, Sequence[str]] = {
    ".pdf": ("pdf", "png", "text"),
    ".epub": ("html", "text", "pdf"),
    ".docx": ("html", "text", "pdf"),
    ".html": ("html", "text"),
}
"""The forms that are asked for, by suffix, in addition to the native one."""


@frozen
class Call:
    """A request about a hostile file: its cost in the server and its workers, and the answer or the error."""

    name: str
    seconds: float
    megabytes: int
    said: str
    is_error: bool
    was_neighbor_answered: bool

    @property
    def fault(self) -> str:
        """What was not as promised; empty for nothing."""
        if self.seconds > SECONDS + SURCHARGE or self.megabytes > MEGABYTES + IDLE_MEGABYTES:
            return f"{self.name} took {self.seconds:.1f} s, {self.megabytes} MB"
        if self.is_error and not is_one_sentence(self.said):
            return f"{self.name} said {self.said[:200]!r}"
        return "" if self.was_neighbor_answered else f"{self.name} kept another request from its answer"

    def __str__(self) -> str:
        said = f" [{self.said[:160]}]" if self.is_error else ""
        return f"{self.name} {self.seconds:.2f} s {self.megabytes} MB{said}"


def is_one_sentence(text: str) -> bool:
    """Whether an error is one line of bounded length that names no exception of a program."""
    return 0 < len(text) < 1500 and "\n" not in text.strip() and "Traceback" not in text


@define
class Processes:
    """The processor time and memory of a process and all of its descendants."""

    root: int
    peak: int = 0

    def seconds(self) -> float:
        """Processor time so far, also that of children that have ended."""
        fields = (_fields(pid) for pid in _family(self.root))
        return sum(sum(map(int, each[11:15])) for each in fields) / os.sysconf("SC_CLK_TCK")

    async def watch(self) -> None:
        """Note how much the largest process holds, in megabytes."""
        while True:
            for pid in _family(self.root):
                held = _fields(pid)[21:22]
                self.peak = max(self.peak, int(held[0]) * os.sysconf("SC_PAGE_SIZE") // 2**20 if held else 0)
            await anyio.sleep(0.1)


def _fields(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _family(root: int) -> Iterator[int]:
    yield root
    with suppress(OSError):
        for thread in Path(f"/proc/{root}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


@define
class Served:
    """A client of a server, and its hostile files."""

    home: Path
    client: Client
    processes: Processes
    _pages: Iterator[int] = field(factory=lambda: count(2), init=False)
    _numbers: Iterator[int] = field(factory=count, init=False)

    @classmethod
    @asynccontextmanager
    async def started(cls, home: Path) -> Any:
        """A server over a home with one good file."""
        kit = bootstrap(settings_from({"CITEKIT_MAPPER": "local", "CITEKIT_OCR": "off"}, home))
        kit.ingest(Path(shutil.copy(SAMPLE, home / "manual.pdf")), wanted_id="manual")
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "citekit", "serve", "--home", str(home)],
            env={**os.environ, "CITEKIT_MAPPER": "local", "CITEKIT_OCR": "off"},
        )
        before = set(_family(os.getpid()))
        async with Client(server) as client:
            found = next(pid for pid in _family(os.getpid()) if pid not in before and b"serve" in _command(pid))
            served = cls(home, client, Processes(found))
            await served.neighbor()
            async with anyio.create_task_group() as group:
                group.start_soon(served.processes.watch)
                yield served
                group.cancel_scope.cancel()

    async def neighbor(self) -> bool:
        """Cut a page that was not cut before; whether that was answered."""
        page = 2 + next(self._pages) % 100
        asked = {"resource_id": "manual", "node_id": f"doc://manual#pages={page}"}
        return not (await self.client.call_tool("resolve", asked)).is_error

    async def bill(self, path: Path) -> list[Call]:
        """What mapping a file below the home, cutting its first part in each form, and looking for a quote costs."""
        name = f"hostile{next(self._numbers)}"
        write_map(self.home, name, path, b"what was there before")
        calls = [await self._call("map", "resolve", resource_id=name, node_id="part-1", remap=True)]
        listed = await self.client.call_tool("getStructure", {"resource_id": name, "depth": 1})
        nodes = (listed.structured_content or {}).get("nodes") or [{"id": "part-1"}]
        for form in (None, *FORMS.get(path.suffix, ())):
            asked = {"resource_id": name, "node_id": nodes[0]["id"]} | ({"as": form} if form else {})
            calls.append(await self._call(f"resolve {form or 'native'}", "resolve", **asked))
        write_map(self.home, f"{name}-again", path, path.read_bytes())
        quote = "words that stand nowhere"
        return [*calls, await self._call("quote", "verifyQuote", resource_id=f"{name}-again", quote=quote)]

    async def _call(self, name: str, tool: str, **arguments: object) -> Call:
        self.processes.peak, before, answered = 0, self.processes.seconds(), False

        async def ask_neighbor() -> None:
            nonlocal answered
            answered = await self.neighbor()

        said, is_error = "no answer", True
        with anyio.move_on_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(ask_neighbor)
                try:
                    found = await self.client.call_tool(tool, arguments)
                    said, is_error = "".join(getattr(each, "text", "") for each in found.content), bool(found.is_error)
                except MCPError as error:
                    said = str(error)
        spent = self.processes.seconds() - before
        return Call(name, spent, self.processes.peak, said, is_error, answered)


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


async def _bills(home: Path, files: Sequence[Path], shapes: Sequence[Shape]) -> list[tuple[str, list[Call]]]:
    found = []
    async with Served.started(home) as served:
        for path in files:
            copied = Path(shutil.copy(path, home))
            found.append((path.name, await served.bill(copied)))
        for number, shape in enumerate(shapes):
            path = home / f"shape{number}{Path(shape.file).suffix}"
            path.write_bytes(shape.make())
            found.append((f"{shape.file} ({shape.name})", await served.bill(path)))
    return found


def bills(files: Sequence[Path], shapes: Sequence[Shape]) -> list[tuple[str, list[Call]]]:
    """The name of each file and shape, and what each request about it took, in a new home."""
    with tempfile.TemporaryDirectory(prefix="citekit-served-") as folder:
        return anyio.run(_bills, Path(folder).resolve(), files, shapes)


def run(scale: Scale) -> Sequence[Row]:
    """One row: the requests about all shapes."""
    names = BRIEF_NAMES if scale.inputs <= BRIEF.inputs else NAMES
    chosen = [shape for shape in SHAPES if shape.name in names]
    calls = [(name, call) for name, found in bills((), chosen) for call in found]
    faults = [f"{name}: {call.fault}" for name, call in calls if call.fault]
    dearest = max(calls, key=lambda each: each[1].seconds)
    refused = sum(call.is_error for _, call in calls)
    note = "; ".join(faults) or f"dearest {dearest[0]}: {dearest[1].name} {dearest[1].seconds:.1f} s; {refused} refused"
    return [Row(AREA, "expensive files through MCP", len(calls), len(calls) - len(faults), note)]


if __name__ == "__main__":
    chosen = () if sys.argv[1:] else [shape for shape in SHAPES if shape.name in NAMES]
    for name, found in bills([Path(each) for each in sys.argv[1:]], chosen):
        print(f"{name}: {'; '.join(map(str, found))}", flush=True)
