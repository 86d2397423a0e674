"""What one process at a time may have open: threads share it, processes take turns, the dead block nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from citekit.adapters.search.vector_index.shard_lease import ShardLease
from citekit.domain.errors import IndexUnavailable

HOLD = """
import sys, time
from pathlib import Path
from citekit.adapters.search.vector_index.shard_lease import ShardLease
turns = ShardLease(Path(sys.argv[1]), "books", lambda: 1, lambda _: None, what="The index", patience=30)
with turns.using():
    print("open", flush=True)
    time.sleep(float(sys.argv[2]))
print("done", flush=True)
time.sleep(60)
"""


class Door:
    """Counts how often it is opened and closed, and notices when two are open at once."""

    open = 0

    def __init__(self) -> None:
        self.opened, self.closed = 0, 0

    def enter(self) -> Door:
        Door.open += 1
        assert 1 == Door.open
        self.opened += 1
        return self

    def leave(self, _: Door) -> None:
        Door.open -= 1
        self.closed += 1


@pytest.fixture
def new_turns(tmp_path: Path) -> Callable[..., tuple[ShardLease[Door], Door]]:
    Door.open = 0

    def make(name: str = "books", patience: float = 20) -> tuple[ShardLease[Door], Door]:
        door = Door()
        return ShardLease(tmp_path, name, door.enter, door.leave, what=f"The index {name}", patience=patience), door

    return make


def holder(folder: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "open\n" == process.stdout.readline()
    return process


Made = Callable[..., tuple[ShardLease[Door], Door]]


def test_what_is_open_stays_open_between_calls(new_turns: Made) -> None:
    turns, door = new_turns()

    for _ in range(3):
        with turns.using() as used:
            assert door is used

    assert (1, 0) == (door.opened, door.closed)
    turns.let_go()
    turns.let_go()
    assert (1, 1) == (door.opened, door.closed)


@pytest.mark.long
def test_two_holders_hand_it_over(new_turns: Made) -> None:
    (one, first), (other, second) = new_turns(), new_turns()

    for turns in (one, other, one, other):
        with turns.using():
            assert 1 == Door.open

    one.let_go()
    other.let_go()
    assert [(2, 2), (2, 2)] == [(door.opened, door.closed) for door in (first, second)]


@pytest.mark.long
def test_busy_threads_on_both_sides_never_open_it_twice_and_all_get_on(new_turns: Made) -> None:
    sides, calls, failures = [new_turns(), new_turns()], [0, 0], []
    until = time.monotonic() + 3

    def work(side: int) -> None:
        try:
            while time.monotonic() < until:
                with sides[side][0].using():
                    assert 1 == Door.open
                    calls[side] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number % 2,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failures
    assert all(calls)
    assert all(door.opened < 30 for _, door in sides)
    for turns, _ in sides:
        turns.let_go()


@pytest.mark.long
def test_a_mark_of_the_dead_makes_nobody_let_go(new_turns: Made, tmp_path: Path) -> None:
    (tmp_path / "books.wanted").touch()
    turns, door = new_turns()

    for _ in range(8):
        with turns.using():
            time.sleep(0.1)

    assert (1, 0) == (door.opened, door.closed)
    turns.let_go()


@pytest.mark.long
def test_a_call_that_takes_long_is_waited_for(new_turns: Made, tmp_path: Path) -> None:
    process = holder(tmp_path, 1.0)
    turns, door = new_turns()

    with turns.using():
        assert process.stdout is not None
        assert "done\n" == process.stdout.readline()

    assert 1 == door.opened
    process.kill()
    process.wait()
    turns.let_go()


def test_whoever_waited_too_long_is_told_who_has_it(new_turns: Made, tmp_path: Path) -> None:
    process = holder(tmp_path, 60)
    turns, _ = new_turns(patience=0.5)

    with pytest.raises(IndexUnavailable) as refused, turns.using():
        pass

    assert f"The index books is in use by process {process.pid} (-c {tmp_path} 60)" in str(refused.value)
    assert "QDRANT_URL" in str(refused.value)
    process.kill()
    process.wait()


def test_what_a_killed_process_held_is_free(new_turns: Made, tmp_path: Path) -> None:
    process = holder(tmp_path, 60)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    turns, door = new_turns(patience=5)

    with turns.using():
        assert 1 == door.opened

    turns.let_go()


def test_two_names_do_not_wait_for_each_other(new_turns: Made, tmp_path: Path) -> None:
    process = holder(tmp_path, 60)
    turns, door = new_turns("others", patience=0)

    with turns.using():
        assert 1 == door.opened

    process.kill()
    process.wait()
    turns.let_go()


def test_an_opening_that_fails_lets_go(tmp_path: Path) -> None:
    failing: list[bool] = [True]

    def opened() -> int:
        if failing:
            raise IndexUnavailable("not now")
        return 7

    turns = ShardLease(tmp_path, "books", opened, lambda _: None, what="The index", patience=5)
    with pytest.raises(IndexUnavailable, match="not now"), turns.using():
        pass
    failing.clear()

    with turns.using() as thing:
        assert 7 == thing

    turns.let_go()


def test_alone_nothing_is_open(new_turns: Made) -> None:
    turns, door = new_turns()
    with turns.using():
        pass

    with turns.alone():
        assert 0 == Door.open

    assert (1, 1) == (door.opened, door.closed)
    with turns.using():
        assert 1 == Door.open
    turns.let_go()
