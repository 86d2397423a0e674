"""A client without a library: lines of JSON-RPC over pipes, so that what is timed is the server."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROTOCOL = "2025-06-18"
_CHUNK = 1 << 20
_INITIALIZE = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "benchmarks", "version": "1"},
}


class Client:
    """A server process and the two pipes to it. `started` is the seconds from spawn to the answer to initialize."""

    def __init__(self, command: Sequence[str | Path], *, cwd: Path | None = None, **environment: str) -> None:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env={**os.environ, **environment},
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout.fileno()
        self._rest, self._number = b"", 0
        self.send(call("initialize", _INITIALIZE))
        self.started = time.perf_counter() - began
        self._write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def send(self, request: bytes) -> bytes:
        """The line that answers a request made by `call` or `tool`. Raises `EOFError` where the server ended."""
        self._number += 1
        self._write(b'{"jsonrpc":"2.0","id":%d,%b' % (self._number, request))
        line = self._line()
        while not line.startswith(b"{"):  # some libraries print where only the protocol may
            line = self._line()
        return line

    def memory(self) -> dict[str, float]:
        """Megabytes in memory now (`VmRSS`) and at most so far (`VmHWM`)."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text("utf-8").splitlines()
        return {
            name: int(value.split()[0]) / 1024
            for name, _, value in (line.partition(":") for line in lines)
            if name in ("VmRSS", "VmHWM")
        }

    def close(self) -> None:
        """End the server by ending its input."""
        self._in.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            chunk = os.read(self._out, _CHUNK)
            if not chunk:
                raise EOFError(f"the server ended: {self.process.args!r}")
            parts.append(chunk)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._in.write(left) or 0 :]


def call(method: str, params: Mapping[str, Any] | None = None) -> bytes:
    """The rest of a request after its number, made before the clock runs."""
    return f'"method":{json.dumps(method)},"params":{json.dumps(params or {})}}}\n'.encode()


def tool(name: str, **arguments: object) -> bytes:
    """The request that calls a tool."""
    return call("tools/call", {"name": name, "arguments": arguments})


def text_of(answer: bytes) -> str:
    """The text that a tool's answer, or a resource's, holds. Raises `ValueError` for an error."""
    message = json.loads(answer)
    result = message.get("result")
    if result is None or result.get("isError"):
        raise ValueError(answer[:400].decode("utf-8", "replace"))
    blocks = result.get("content") or result.get("contents") or [{}]
    return str(blocks[0].get("text", ""))
