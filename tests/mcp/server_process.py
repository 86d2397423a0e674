"""A home with mapped files, and two clients of a real server process: the official one and a bare one."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from subprocess import Popen
from typing import Any, TypeVar

import anyio
from anyio.from_thread import BlockingPortal
from attrs import define, field, frozen
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps
from tests.warm_start.command import python

_Result = TypeVar("_Result")
Work = Callable[[Client], Awaitable[_Result]]

PATIENCE = 60
"""Seconds after which a server that does not answer has failed."""


def node(name: str, first: int, last: int, *children: Node, summary: str | None = None) -> Node:
    return Node(name, name.rpartition(".")[2].title(), "section", Lines(first, last), summary, children)


@frozen
class Home:
    """A folder with texts of 400 lines and maps of them."""

    folder: Path

    @classmethod
    def with_notes(cls, folder: Path) -> Home:
        made = cls(folder)
        made.add(
            "notes",
            node("intro", 1, 20, node("intro.aim", 3, 5), summary="What this is about."),
            node("body", 21, 400, node("body.first", 21, 30), node("body.second", 31, 40)),
        )
        return made

    def source(self, resource_id: str) -> Path:
        return self.folder / f"{resource_id}.txt"

    def map_file(self, resource_id: str) -> Path:
        return self.folder / ".resource_maps" / f"{resource_id}.json"

    def add(self, resource_id: str, *nodes: Node) -> ResourceMap:
        source = self.source(resource_id)
        source.write_text("".join(f"line {number}\n" for number in range(1, 400)) + f"This is {resource_id}.\n")
        digest = hashlib.sha256(source.read_bytes()).hexdigest()
        facts = {"source_hash": digest, "source_size": source.stat().st_size, "line_count": 400}
        moment = datetime(2025, 2, 16, 14, 32, 10, tzinfo=UTC)
        made = ResourceMap(resource_id, Modality.TEXT, "Notes", str(source), nodes, moment, facts)
        self.map_file(resource_id).parent.mkdir(exist_ok=True)
        self.map_file(resource_id).write_text(maps.to_json(made), encoding="utf-8")
        return made

    @property
    def server(self) -> list[str]:
        """The command line of a server of this home, forked from a process that has imported the server."""
        return python("-m", "citekit", "serve", "--home", str(self.folder))

    @property
    def cold_server(self) -> list[str]:
        """The command line of a user, for what a fork does not show: what is imported, and that nothing else is printed."""
        return [sys.executable, "-m", "citekit", "serve", "--home", str(self.folder)]

    def parameters(self, server: Sequence[str] | None = None) -> StdioServerParameters:
        command, *arguments = server or self.server
        return StdioServerParameters(command=command, args=arguments)

    def ask(self, work: Work[_Result], mode: str = "auto", server: Sequence[str] | None = None) -> _Result:
        """What `work` finds with the official Python client of a server process of its own."""

        async def session() -> _Result:
            with anyio.fail_after(PATIENCE):
                async with Client(self.parameters(server), mode=mode) as client:
                    return await work(client)

        return anyio.run(session)


@frozen
class Served:
    """A server process that several tests share, and the official Python client of it."""

    home: Home
    client: Client
    portal: BlockingPortal

    def ask(self, work: Work[_Result]) -> _Result:
        async def bounded() -> _Result:
            with anyio.fail_after(PATIENCE):
                return await work(self.client)

        return self.portal.call(bounded)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.ask(lambda client: client.call_tool(tool, arguments))


@define
class Wire:
    """A client that speaks bare JSON-RPC, a line a message."""

    process: Popen[bytes]
    number: int = 0
    seen: list[dict[str, Any]] = field(factory=list)

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.seen.append(message)
        return message

    def start(self, method: str, params: Mapping[str, Any]) -> int:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to that request; what comes before it is kept in `seen`."""
        while (message := self.read()).get("id") != number:
            pass
        return message

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self.answer(self.start(method, params or {}))

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        result: dict[str, Any] = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def shake_hands(self, version: str = "2025-11-25") -> dict[str, Any]:
        client = {"name": "bare", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        answer: dict[str, Any] = self.request("initialize", params)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def leave(self) -> tuple[int, bytes]:
        """(exit code, what else was on standard output) after the input was closed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(PATIENCE), rest
