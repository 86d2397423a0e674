"""A real server process, and a client of it that does not wait for ever."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field

PATIENCE = 60.0
"""Seconds after which a server that does not answer has failed."""


class ToolError(Exception):
    """A tool answered with an error; the text is what an agent reads."""


@define
class Server:
    """Speaks JSON-RPC over the standard streams of `citekit serve`, a line a message."""

    process: subprocess.Popen[bytes]
    number: int = 0
    unread: bytes = b""
    told: list[dict[str, Any]] = field(factory=list)
    """What came without being asked for, such as progress."""

    @classmethod
    @contextmanager
    def of(cls, home: Path, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
        """A server of that home, which is gone afterwards."""
        command = [sys.executable, "-m", "citekit", "serve", "--home", str(home)]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )
        try:
            server = cls(process)
            client = {"name": "faults", "version": "1"}
            server.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield server
        finally:
            process.kill()
            process.communicate()

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """What a tool answers. Raises `ToolError`."""
        return self.result_of(self.begin(tool, **arguments))

    def cut(self, address: str) -> Path:
        """The file of a part. Raises `ToolError`."""
        name = address.partition("#")[0].partition("://")[2]
        return Path(self.call("resolve", resource_id=name, node_id=address)["output_path"])

    def begin(self, tool: str, **arguments: object) -> int:
        """Ask without waiting; the number of the request. Its progress is told."""
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": self.number + 1}}
        return self._ask("tools/call", params)

    def result_of(self, number: int) -> dict[str, Any]:
        """The answer to a call. Raises `ToolError`."""
        result = self.answer(number)
        if result.get("isError"):
            raise ToolError(result["content"][0]["text"])
        structured: dict[str, Any] | None = result.get("structuredContent")
        return structured if structured is not None else json.loads(result["content"][0]["text"])

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        return self.answer(self._ask(method, params))

    def answer(self, number: int) -> dict[str, Any]:
        """The answer with that number. Raises `TimeoutError`, `ConnectionError` where the server has gone."""
        deadline = time.monotonic() + PATIENCE
        while (message := self.read(deadline)).get("id") != number:
            self.told.append(message)
        if "error" in message:
            raise ToolError(message["error"]["message"])
        result: dict[str, Any] = message["result"]
        return result

    def read(self, deadline: float) -> dict[str, Any]:
        """The next message. Raises `TimeoutError`, `ConnectionError`."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self.unread:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the server does not answer")
            data = os.read(descriptor, 65536)
            if not data:
                raise ConnectionError(f"the server ended with {self.process.wait(5)}")
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def send(self, message: Mapping[str, Any]) -> None:
        """One message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _ask(self, method: str, params: Mapping[str, Any]) -> int:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number
