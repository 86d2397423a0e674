"""A home with one mapped text, and servers of it that are gone after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Timer

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client

from tests.mcp.server_process import PATIENCE, Home, Served, Wire


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.with_notes(tmp_path)


@pytest.fixture(scope="module", params=["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server process for all tests of a module; each test uses maps of its own.

    `make test-all` tries both eras of the protocol, `make test` the older one in `test_tools`, `test_long_work` and `test_wire`.
    """
    home = Home.with_notes(tmp_path_factory.mktemp("home"))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(home.parameters(), mode=request.param)) as client,
    ):
        yield Served(home, client, portal)


@pytest.fixture
def wire(home: Home) -> Iterator[Callable[..., Wire]]:
    started: list[Popen[bytes]] = []
    watchdogs: list[Timer] = []

    def start(server: Sequence[str] | None = None, *, hands: str | None = "2025-11-25") -> Wire:
        with (home.folder / "stderr.txt").open("ab") as errors:
            process = Popen(server or home.server, stdin=PIPE, stdout=PIPE, stderr=errors)
        started.append(process)
        watchdog = Timer(PATIENCE, process.kill)  # a server that does not answer fails its test, and does not hang it
        watchdog.daemon = True
        watchdog.start()
        watchdogs.append(watchdog)
        made = Wire(process)
        if hands:
            made.shake_hands(hands)
        return made

    yield start
    for watchdog in watchdogs:
        watchdog.cancel()
    for process in started:
        process.kill()
        process.wait(10)
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()
