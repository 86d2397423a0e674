"""The library's tools in a server process: progress while it works, giving up, and others served meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.library_home import plain
from tests.mcp.server_process import PATIENCE, Home, Wire
from tests.mcp.test_long_work import logged
from tests.warm_start.command import python

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ENDLESS = 1_000_000
BOOK = {"book_id": 1}


@pytest.fixture(autouse=True)
def tests_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}{os.pathsep}{ROOT}")


def slow(home: Home, steps: int) -> list[str]:
    return python(str(Path(__file__).with_name("library_server.py")), str(home.folder), str(steps))


def parameters(home: Home, steps: int) -> StdioServerParameters:
    command, *arguments = slow(home, steps)
    return StdioServerParameters(command=command, args=arguments, env={"PYTHONPATH": os.environ["PYTHONPATH"]})


def begin(wire: Wire, tool: str, arguments: Mapping[str, object]) -> int:
    return wire.start("tools/call", {"name": tool, "arguments": arguments})


@pytest.mark.parametrize(
    ("mode", "tool", "arguments"),
    [("auto", "alexandria_ingest", BOOK), ("legacy", "alexandria_batch_ingest", {"book_ids": [1, 2]})],
)
def test_an_ingest_reports_how_far_it_is(home: Home, mode: str, tool: str, arguments: dict[str, Any]) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def session() -> dict[str, object]:
        with anyio.fail_after(PATIENCE):
            async with Client(parameters(home, 5), mode=mode) as client:
                return plain(tool, await client.call_tool(tool, arguments, progress_callback=hear))

    answer = anyio.run(session)

    assert answer["error"] is None
    assert len(heard) > 1
    assert sorted({done for done, _, _ in heard}) == [done for done, _, _ in heard]
    last, total, _ = heard[-1]
    assert last == total


def test_a_question_is_answered_while_a_book_is_taken_in(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, ENDLESS))
    begin(client, "alexandria_ingest", BOOK)
    assert logged(home, "begun")

    found = client.call("alexandria_search", title="small")["structuredContent"]

    assert 1 == found["count"]


def test_an_ingest_that_is_cancelled_leaves_nothing(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, ENDLESS))
    number = begin(client, "alexandria_ingest", BOOK)
    assert logged(home, "begun")

    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    assert logged(home, "begun", "Cancelled")
    stats = client.call("alexandria_stats")["structuredContent"]["qdrant"]
    assert 0 == stats.get("points_count", 0)
    assert number not in [message.get("id") for message in client.seen[1:]]


def test_a_batch_that_is_cancelled_takes_in_no_more(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, ENDLESS))
    number = begin(client, "alexandria_batch_ingest", {"book_ids": [1, 2]})
    assert logged(home, "begun")

    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    assert logged(home, "begun", "Cancelled")
    assert 0 == client.call("alexandria_stats")["structuredContent"]["qdrant"].get("points_count", 0)
    assert 0 == client.leave()[0]
    assert logged(home, "begun", "Cancelled")
