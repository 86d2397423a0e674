"""What an MCP client may send: arguments of every tool, drawn from its schema and then spoiled, and raw lines."""

from __future__ import annotations

import json
import logging
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from attrs import define, field
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, Tool

from citekit.entrypoints.mcp.handlers import build_server
from tests.faults.mutations import ODD, mutated_text, retold, seeded
from tests.faults.table import Row
from tests.mcp.library_home import LibraryHome
from tests.warm_start.command import python

PATIENCE = 20.0
"""Seconds after which a call without an answer has failed."""

LONGEST_ERROR = 1300
"""Characters of an error that an agent is told."""


class Failures(logging.Handler):
    """Keeps what the server logs as failures that nobody foresaw."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        error = record.exc_info[1] if record.exc_info else None
        self.records.append(f"{record.getMessage()}: {type(error).__name__}: {error}"[:400])

    @contextmanager
    def listening(self) -> Iterator[Failures]:
        """Listen to everything of ours, meanwhile."""
        log = logging.getLogger("citekit")
        log.addHandler(self)
        try:
            yield self
        finally:
            log.removeHandler(self)


@define
class _Drawn:
    """Values that mean something in the home, by the name of the argument."""

    known: dict[str, list[Any]]
    some: list[Any]

    def arguments(self, tool: Tool, chance: random.Random) -> dict[str, Any]:
        """Arguments that fit the schema, or would, had not something happened to some of them."""
        schema = tool.input_schema
        drawn = {
            name: self._value(name, each, chance)
            for name, each in schema["properties"].items()
            if name in schema.get("required", ()) or chance.random() < 0.35
        }
        if chance.random() < 0.35:
            drawn = retold(chance, drawn)
        return drawn if isinstance(drawn, dict) else {"x": drawn}

    def _value(self, name: str, schema: dict[str, Any], chance: random.Random) -> Any:
        if chance.random() < 0.2:
            return chance.choice(ODD)
        if schema.get("enum"):
            return chance.choice(schema["enum"])
        if name in self.known:
            return chance.choice(self.known[name])
        kinds = schema.get("type", "string")
        match kinds if isinstance(kinds, str) else chance.choice(kinds):
            case "integer":
                return chance.choice((0, 1, 2, 3, 5, 100, 10**6))
            case "number":
                return chance.choice((0.0, 0.5, 1.0, 2.0, -1.0))
            case "boolean":
                return chance.random() < 0.5
            case "array":
                return [self._value("", schema.get("items", {}), chance) for _ in range(chance.choice((0, 1, 3)))]
            case "object":
                return {chance.choice(("a", "title", "")): chance.choice(self.some)}
        return chance.choice(self.some)


def calls_of(count: int, first: int = 0) -> Row:
    """A row of `count` calls of tools, resources and prompts, numbered from `first` on."""
    with tempfile.TemporaryDirectory() as folder:
        faults = anyio.run(_called, Path(folder).resolve(), count, first)
    for each in faults:
        sys.stderr.write(f"mcp call: {each}\n")
    note = f"first: {faults[0]}"[:300] if faults else ""
    return Row("inputs", "calls of every MCP tool, resource and prompt", count, count - len(faults), note)


async def _called(folder: Path, count: int, first: int) -> list[str]:
    home = LibraryHome.made(folder)
    app = home.app()
    for name in ("plain.txt", "small.epub"):
        app.ingest(folder / name)
    nodes = [node.id for name in app.maps.ids() for node in app.maps.get(name).walk()]
    drawn = _Drawn(
        {
            "resource_id": [*app.maps.ids(), "gone"],
            "node_id": [*nodes, "gone", "text://plain#lines=1-3", "doc://small#chapter=1"],
            "file_path": [str(folder / "plain.txt"), str(folder / "gone.txt"), "plain.txt"],
            "book_id": [1, 2, 3, 4, 9],
        },
        ["volcano", "", "x", "lava and ash", "%", "1", "plain", "text://plain#lines=1-3", "The queen bee lays eggs in the hive"],
    )  # fmt: skip
    faults = []
    async with Client(build_server(app)) as client:
        tools = (await client.list_tools()).tools
        for number in range(first, first + count):
            chance = seeded("mcp", number)
            tool = chance.choice(tools)
            arguments = drawn.arguments(tool, chance)
            with Failures().listening() as heard:
                fault = await _fault(client, tool.name, arguments, chance)
            fault = fault or "; ".join(heard.records)
            if fault:
                faults.append(f"{number}: {tool.name} {str(arguments)[:300]}: {fault}")
    return faults


async def _fault(client: Client, name: str, arguments: dict[str, Any], chance: random.Random) -> str:
    """What is wrong with the answer to a call; now and then a resource or a prompt is asked for instead."""
    word = str(next(iter(arguments.values()), "")).encode("utf-8", "replace").decode()
    try:
        with anyio.fail_after(PATIENCE):
            match chance.randrange(20):
                case 0:
                    await client.read_resource(f"citekit://maps/{word}")
                case 1:
                    await client.get_prompt(f"guardian_{word}", {"question": word})
                case _:
                    return _wrong(await client.call_tool(name, arguments))
    except MCPError as error:
        return "" if 0 < len(str(error)) < LONGEST_ERROR else f"an error of {len(str(error))} characters"
    except TimeoutError:
        return f"no answer within {PATIENCE:g} s"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:400]
    return ""


def _wrong(result: CallToolResult) -> str:
    text = next((each.text for each in result.content if isinstance(each, TextContent)), "")
    if not result.is_error:
        return "" if result.structured_content is not None else "an answer without structure"
    data = result.structured_content
    is_document = data is not None and data.get("success") is False and bool(data.get("error"))  # of the library
    if not (is_document or text.startswith("Error: ")) or len(text) > LONGEST_ERROR:
        return f"an error that is told like this: {text[:100]!r}"
    return ""


_LINES: Sequence[dict[str, Any]] = (
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "listResources", "arguments": {}}},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "getStructure", "arguments": {"resource_id": "plain", "depth": 1}, "_meta": {"progressToken": 3}}},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "resolve", "arguments": {"resource_id": "plain", "node_id": "text://plain#lines=1-3"}}},
    {"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "citekit://maps/plain"}},
    {"jsonrpc": "2.0", "id": 5, "method": "resources/list", "params": {"cursor": "x"}},
    {"jsonrpc": "2.0", "id": 6, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "x", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "x"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 3, "progress": 1}},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "id": 0, "result": {"roots": [{"uri": "file:///", "name": "x"}]}},
    {"jsonrpc": "2.0", "id": 7, "error": {"code": -1, "message": "x"}},
)  # fmt: skip


@define
class _Wire:
    """A server process, and the lines that it said."""

    process: subprocess.Popen[bytes]
    held: bytearray = field(factory=bytearray)

    def say(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def until(self, name: str) -> str:
        """Read until the request `name` is answered; what is wrong with that, or with what came before."""
        assert self.process.stdout is not None
        due = time.monotonic() + PATIENCE
        while True:
            while b"\n" not in self.held:
                ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, due - time.monotonic()))
                data = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
                if not data:
                    return f"the server ended ({self.process.wait(5)})" if ready else "the server does not answer"
                self.held += data
            line, _, rest = bytes(self.held).partition(b"\n")
            self.held = bytearray(rest)
            try:
                said = json.loads(line)
            except ValueError:
                return f"a line that is no JSON: {line[:80]!r}"
            if not isinstance(said, dict) or said.get("jsonrpc") != "2.0":
                return f"a line that is no message: {line[:80]!r}"
            if said.get("id") == name:
                return ""


def lines_of(count: int, first: int = 0) -> Row:
    """A row of `count` raw lines to a real server, each followed by a ping, which must be answered."""
    with tempfile.TemporaryDirectory() as folder:
        faults = _said(Path(folder).resolve(), count, first)
    for each in faults:
        sys.stderr.write(f"mcp line: {each}\n")
    note = f"first: {faults[0]}"[:300] if faults else ""
    return Row("inputs", "raw lines to the MCP server", count, count - len(faults), note)


def _said(folder: Path, count: int, first: int) -> list[str]:
    from citekit.container import bootstrap

    (folder / "plain.txt").write_text("CHAPTER 1\n\nIt was a bright day.\n\n\nCHAPTER 2\n\nThen it rained.\n")
    bootstrap(home=folder).ingest(folder / "plain.txt")
    faults: list[str] = []
    seeds = [json.dumps(each).encode() for each in _LINES]
    number, log = first, folder / "log.txt"
    while number < first + count:
        with _served(folder, log) as wire:
            for number in range(number, first + count):  # noqa: B020 - a new server goes on where the last one ended
                line = raw_line(number, seeds)
                try:
                    wire.say(line, b'{"jsonrpc":"2.0","id":"ping-%d","method":"ping"}' % number)
                    fault = wire.until(f"ping-{number}")
                except OSError as error:
                    fault = f"the server is gone: {error}"
                if fault:
                    faults.append(f"{number}: {line[:300]!r}: {fault}")
                    break
        number += 1
    text = log.read_text("utf-8", "replace")
    if "Traceback" in text:
        faults.append(f"a traceback in the log: {text[text.index('Traceback') :][-600:]}")
    return faults


def raw_line(number: int, seeds: Sequence[bytes]) -> bytes:
    """The line of that number."""
    chance = seeded("lines", number)
    return mutated_text(chance, chance.choice(seeds), seeds).replace(b"\n", b" ")


@contextmanager
def _served(home: Path, log: Path) -> Iterator[_Wire]:
    command = python("-m", "citekit", "serve", "--home", str(home))
    with log.open("ab") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
    try:
        wire = _Wire(process)
        wire.say(json.dumps({**_LINES[6], "id": "hello"}).encode())
        if fault := wire.until("hello"):
            raise RuntimeError(fault)
        wire.say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield wire
    finally:
        process.kill()
        process.communicate()
