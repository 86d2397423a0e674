"""Real servers over HTTP in processes of their own, with two subjects that have a token each."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

import anyio
import httpx2
import pytest
from attrs import field, frozen
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from citekit.container import bootstrap
from citekit.container.http_access import subjects_of
from citekit.domain.subject import INGEST, READ, Subject
from tests.warm_start.command import python

PATIENCE = 60
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def token_of(home: Path, name: str, *, scope: str = READ, **more: Any) -> str:
    """A new subject with a text of its own in its home; its token."""
    folder = home / ".citekit_subjects" / name
    subject = Subject(name=name, home=folder, scopes=frozenset({scope}), **more)
    token = subjects_of(bootstrap(home=home)).add(subject)
    (folder / "notes.txt").write_text(f"A secret of {name}.\nThe second line.\n")
    assert token is not None
    return token


@frozen
class HttpServer:
    """A running server, and the tokens of its subjects."""

    home: Path
    port: int
    process: Popen[str]
    tokens: Mapping[str, str] = field(factory=dict)
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def post(
        self, token: str | None, method: str, params: Mapping[str, Any] | None = None, **headers: str
    ) -> httpx2.Response:
        """A bare request of the version 2026-07-28."""
        named = dict(params or {})
        said = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": method,
            **({"authorization": f"Bearer {token}"} if token is not None else {}),
            **({"mcp-name": str(named.get("name", named.get("uri")))} if "name" in named or "uri" in named else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**named, "_meta": META}}
        return httpx2.post(f"{self.url}/mcp", json=body, headers=said, timeout=PATIENCE)

    def call(self, token: str | None, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool in a bare request."""
        answer = self.post(token, "tools/call", {"name": tool, "arguments": arguments})
        text = answer.text
        if answer.headers["content-type"].startswith("text/event-stream"):
            text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
        result: dict[str, Any] = json.loads(text)["result"]
        return result

    def ask(self, token: str | None, work: Callable[[Client], Any], mode: str = "auto") -> Any:
        """What `work` returns with the official client."""

        async def asked() -> Any:
            headers = {} if token is None else {"authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
                transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    with anyio.fail_after(PATIENCE):
                        return await work(client)

        return anyio.run(asked)

    def audit(self) -> list[dict[str, Any]]:
        lines = (self.home / ".citekit_audit.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


Start = Callable[..., HttpServer]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts servers, which end after the tests of the module."""
    started: list[Popen[str]] = []

    def begin(home: Path, *options: str, tokens: Mapping[str, str] | None = None, **environment: str) -> HttpServer:
        port = free_port()
        command = python("-m", "citekit", "--home", str(home), "serve", "--http", f"127.0.0.1:{port}", *options)
        process = Popen(command, stderr=PIPE, stdout=DEVNULL, text=True, env={**os.environ, **environment})
        started.append(process)
        scheme = "https" if "--tls-cert" in options else "http"
        server = HttpServer(home, port, process, tokens or {}, scheme)
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.start()
        assert process.stderr is not None
        heard = ""
        while "serving MCP" not in heard:
            line = process.stderr.readline()
            assert line, heard
            heard += line
        watchdog.cancel()
        threading.Thread(target=process.stderr.read, daemon=True).start()
        _until_healthy(server)
        return server

    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
    for process in started:
        try:
            process.wait(15)
        except Exception:
            process.kill()


def _until_healthy(server: HttpServer) -> None:
    for _ in range(600):
        with suppress(httpx2.TransportError):
            if httpx2.get(f"{server.url}/health", verify=False, timeout=5).status_code == 200:
                return
        threading.Event().wait(0.1)
    raise AssertionError("the server does not answer")


@pytest.fixture(scope="module")
def server(start: Start, tmp_path_factory: pytest.TempPathFactory) -> HttpServer:
    """A server with the subjects alice, who may ingest, and bob, who may read. Each has a mapped text."""
    home = tmp_path_factory.mktemp("served")
    tokens = {"alice": token_of(home, "alice", scope=INGEST), "bob": token_of(home, "bob")}
    for name in tokens:
        bootstrap(home=home / ".citekit_subjects" / name).ingest(home / ".citekit_subjects" / name / "notes.txt")
    return start(home, tokens=tokens)


def structured(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None, result
    return dict(result.structured_content)


def paths_in(text: str) -> list[str]:
    """Paths of this computer in a text."""
    return re.findall(r"(?:/tmp|/home|/root|/work|/var|/private)[^\s\"']*", text)
