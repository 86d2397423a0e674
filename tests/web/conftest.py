"""A server of the page in a process of its own, for a home with one file of every kind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from attrs import frozen

from citekit.container import bootstrap
from tests.made_files import make_all


@frozen
class Server:
    """A running `citekit view`. `link` is what it printed."""

    home: Path
    link: str

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        """The path of the home in the viewer."""
        return "/".join(urlsplit(self.link).path.split("/")[:3])

    @property
    def root(self) -> str:
        """The address of the home in the viewer."""
        return self.origin + self.base

    @property
    def cookie(self) -> str:
        return f"citekit-{self.port}={urlsplit(self.link).query.removeprefix('token=')}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        admitted: bool = True,
    ) -> tuple[HTTPResponse, bytes]:
        """Return the response and its body. By default, the request comes from the admitted page.

        A path that begins with `/api/` is one of the home.
        """
        path = self.base + path if path.startswith("/api/") and not path.startswith("/api/homes") else path
        own = {"Cookie": self.cookie, "Origin": self.origin} if admitted else {}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {**own, **(headers or {})})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def get(self, name: str, **values: object) -> Any:
        response, body = self.ask("GET", f"/api/{name}?{urlencode(values)}")
        assert 200 == response.status, body
        return json.loads(body)

    def post(self, name: str, **values: object) -> Any:
        response, body = self.ask("POST", f"/api/{name}", json.dumps(values).encode())
        assert 200 == response.status, body
        return json.loads(body)

    def refused(self, name: str, **values: object) -> tuple[int, str]:
        response, body = self.ask("POST", f"/api/{name}", json.dumps(values).encode())
        return response.status, json.loads(body)["message"]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="session")
def many_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which one file of every kind is mapped. Tests only read there."""
    home = tmp_path_factory.mktemp("page")
    app = bootstrap(home=home)
    for path in make_all(home).values():
        app.ingest(path)
    return home


def started(home: Path, *arguments: str) -> tuple[subprocess.Popen[str], Server]:
    """Start `citekit view`, and return when it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "citekit", "view", "--home", str(home), "--no-open", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    link = process.stdout.readline().strip()
    assert link.startswith("http://127.0.0.1:"), process.communicate(timeout=20)[1]
    return process, Server(home, link)


def stop(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    return process.returncode


@pytest.fixture(scope="session")
def page(many_kinds: Path) -> Iterator[Server]:
    """A server for `many_kinds`."""
    process, server = started(many_kinds, "--port", str(free_port()))
    yield server
    stop(process)


@pytest.fixture
def own_page(tmp_path: Path) -> Iterator[Server]:
    """A server for a home with one text, which a test may change."""
    shutil.copy(Path(__file__).parents[2] / "CHANGELOG.md", tmp_path / "notes.md")
    bootstrap(home=tmp_path).ingest(tmp_path / "notes.md")
    process, server = started(tmp_path, "--port", str(free_port()))
    yield server
    stop(process)
