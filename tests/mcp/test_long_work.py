"""Extractions that take their time: progress, giving up, and others that are served meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client

from citekit.domain.errors import Cancelled
from citekit.entrypoints.mcp import workers
from citekit.entrypoints.mcp.workers import Watch
from tests.mcp.server_process import PATIENCE, Home, Wire
from tests.representatives import representatives
from tests.warm_start.command import python

PART = {"resource_id": "notes", "node_id": "intro"}
ENDLESS = 1_000_000


def slow(home: Home, steps: int) -> list[str]:
    return python(str(Path(__file__).with_name("slow_server.py")), str(home.folder), str(steps))


def is_soon(check: Callable[[], bool]) -> bool:
    """Whether the condition is true within `PATIENCE`."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if check():
            return True
        time.sleep(0.02)
    return False


def logged(home: Home, *words: str) -> bool:
    """Whether the extractor says just that, in the end."""
    log = home.folder / "log.txt"
    return is_soon(lambda: log.exists() and log.read_text().split() == list(words))


def begin(wire: Wire, **meta: object) -> int:
    return wire.start("tools/call", {"name": "resolve", "arguments": PART, **({"_meta": meta} if meta else {})})


@pytest.mark.long
@pytest.mark.parametrize("mode", representatives(["auto", "legacy"], 1))
def test_progress_rises_to_the_end(home: Home, mode: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def work(client: Client) -> bool | None:
        return (await client.call_tool("resolve", PART, progress_callback=hear)).is_error

    failed = home.ask(work, mode, slow(home, 40))

    assert failed is False
    assert (40, 40, "cutting") == heard[-1]
    assert sorted({done for done, _, _ in heard}) == [done for done, _, _ in heard]
    assert 2 < len(heard) < 40


def test_progress_is_not_sent_unasked(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, 20))

    client.answer(begin(client))

    assert [] == [message for message in client.seen if "method" in message]


def test_what_an_extractor_prints_never_reaches_the_client(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, 1))

    answer = client.answer(begin(client))
    left = client.leave()

    assert {"Cut slowly."} == set(answer["result"]["structuredContent"]["notes"])
    assert (0, b"") == left
    assert 4 == (home.folder / "stderr.txt").read_text().count("not a message")


def test_others_are_served_during_an_extraction(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, ENDLESS))
    begin(client)
    assert logged(home, "begun")

    answers = [client.call("getNode", **PART)["structuredContent"]["id"] for _ in range(20)]

    assert ["intro"] * 20 == answers
    assert logged(home, "begun")


def test_a_cancelled_extraction_stops_and_leaves_nothing(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, ENDLESS))
    number = begin(client)
    assert logged(home, "begun")

    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    assert logged(home, "begun", "Cancelled")
    assert "intro" == client.call("getNode", **PART)["structuredContent"]["id"]
    assert number not in [message.get("id") for message in client.seen[1:]]
    assert not (home.folder / ".citekit_output").exists()
    assert is_soon(lambda: not any(path.is_file() and path.name == "evidence" for path in home.folder.rglob("*")))


@pytest.mark.long
@pytest.mark.parametrize("mode", representatives(["legacy", "auto"], 1))
def test_the_official_client_can_give_up(home: Home, mode: str) -> None:
    async def work(client: Client) -> object:
        with anyio.move_on_after(1) as scope:
            await client.call_tool("resolve", PART)
        structure = await client.call_tool("listResources")
        stopped = await anyio.to_thread.run_sync(logged, home, "begun", "Cancelled")
        return scope.cancelled_caught, structure.is_error, stopped

    found = home.ask(work, mode, slow(home, ENDLESS))

    assert (True, False, True) == found


@pytest.mark.long
def test_two_that_want_the_same_part_cut_it_once(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, 20))

    wanted = {begin(client), begin(client)}
    while wanted - {message.get("id") for message in client.seen}:
        client.read()

    answers = [message["result"]["isError"] for message in client.seen if message.get("id") in wanted]
    assert [False, False] == answers
    assert logged(home, "begun", "done")


def test_a_client_that_is_killed_stops_the_extraction(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(slow(home, ENDLESS))
    begin(client)
    assert logged(home, "begun")
    assert client.process.stdin is not None
    assert client.process.stdout is not None

    client.process.stdout.close()
    client.process.stdin.close()

    assert 0 == client.process.wait(PATIENCE)
    assert logged(home, "begun", "Cancelled")


def test_work_in_stages_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[float, float | None]] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        sent.append((done, total))

    def work(watch: Watch) -> None:
        for done, total in ((1, 3), (3, 3), (1, 2), (2, 2), (2, 2)):
            watch._due = 0
            watch(done, total)

    anyio.run(anyio.to_thread.run_sync, work, Watch(report))

    assert [(1, 3), (3, 3), (4, 5), (5, 5)] == sent


def test_what_is_waited_for_is_told_though_nothing_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REPORT_EVERY", 0.0)
    sent: list[tuple[float, str | None]] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        sent.append((done, message))

    def work(watch: Watch) -> None:
        watch(2, 3, "mapping")
        for _ in range(3):
            watch(0.0, None, "waiting")
        watch(1, 3, "storing")

    anyio.run(anyio.to_thread.run_sync, work, Watch(report))

    assert ["mapping", "waiting", "storing"] == [message for _, message in sent]
    assert sorted({done for done, _ in sent}) == [done for done, _ in sent]


def test_a_watch_that_was_stopped_ends_the_work() -> None:
    watch = Watch(None)
    watch(1, 2)

    watch.stop()

    with pytest.raises(Cancelled):
        watch(2, 2)
