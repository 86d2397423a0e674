"""Children that parse: whatever happens to one, who asked gets one clear error, and the next child does the next work."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sandbox import worker_request
from citekit.adapters.sandbox.budget import MEGABYTE, Allowance, Budget
from citekit.adapters.sandbox.confinement import confine
from citekit.adapters.sandbox.lanes import Lanes
from citekit.adapters.sandbox.refusals import LAPSE, Refusals, Work
from citekit.adapters.sandbox.worker_pool import Limits, ParserBrokenError, WorkerPool
from citekit.adapters.system.child_process import ChildProcess, ChildProcessEndedError, environment, python
from citekit.adapters.system.file_state import FileState
from citekit.domain.errors import (
    Cancelled,
    CiteKitError,
    DriverMissing,
    ExtractionFailed,
    FaultyAnswer,
    LocationOutside,
    SourceUnsupported,
)

PROGRAM = str(Path(__file__).with_name("faulty_child.py"))
CODE = f"import runpy; runpy.run_path({PROGRAM!r}, run_name='__main__')"
FILE = Path("/files/bad.pdf")


def children(
    hello: dict[str, Any] | None = None,
    *,
    seconds: float = 30,
    output: int = 1000,
    at_most: int = 4,
    slow_at_most: int = 8,
) -> WorkerPool:
    limits = Limits(seconds=seconds, output=output, slow_after=0.4)
    return WorkerPool(lambda: python(CODE), lambda: hello or {}, limits, at_most, slow_at_most)


@pytest.fixture(scope="module")
def sound() -> WorkerPool:
    return children()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_running(pid: int) -> bool:
    """Whether a process, which need not be ours, is there and no mere entry that nobody waited for."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()[:1] not in ("", "Z")


def until(what: Callable[[], bool]) -> bool:
    """Whether that comes true within ten seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.005)
    return False


class TestAChildThatDies:
    def test_leaves_one_clear_error_and_the_next_one_works(self) -> None:
        some = children()
        before = some.ask("pid", FILE, {})

        with pytest.raises(SourceUnsupported) as raised:
            some.ask("crash", FILE, {})

        after = some.ask("pid", FILE, {})
        assert "bad.pdf cannot be read: it crashed the worker process, which was terminated by SIGSEGV." == str(
            raised.value
        )
        assert before != after
        assert not is_alive(before)

    def test_gives_the_error_that_its_caller_promises(self, sound: WorkerPool) -> None:
        with pytest.raises(ExtractionFailed):
            sound.ask("crash", FILE, {}, failure=ExtractionFailed)

    def test_makes_room_for_another_where_what_it_was_told_is_no_longer_so(self) -> None:
        state = ["the folder that was there"]
        some = WorkerPool(lambda: python(CODE), dict, Limits(seconds=30, output=1000), state=lambda: state[0])
        before = some.ask("pid", FILE, {})
        same = some.ask("pid", FILE, {})

        state[0] = "another of that name"

        assert (before, True) == (same, some.ask("pid", FILE, {}) != before)
        assert not is_alive(before)

    def test_for_want_of_work_is_replaced_unseen(self) -> None:
        some = children()
        some.ask("pid", FILE, {})
        [parser] = some._idle
        parser.child.send(b'{"do": "leave", "output": 1}')
        parser.child._process.wait(10)

        assert isinstance(some.ask("pid", FILE, {}), int)

    def test_before_there_is_work_is_no_failure(self) -> None:
        WorkerPool(lambda: ["/nowhere/python"], dict, Limits(seconds=30, output=1000)).warm()
        WorkerPool(lambda: ["/bin/false"], lambda: {"much": "x" * 200_000}, Limits(seconds=30, output=1000)).warm()

    def test_that_cannot_even_start_is_told_so(self) -> None:
        some = WorkerPool(lambda: ["/no/such/program"], dict, Limits(seconds=1, output=1))

        with pytest.raises(SourceUnsupported, match="cannot be started"):
            some.ask("pid", FILE, {})

    def test_and_sends_no_message_is_taken_for_broken(self) -> None:
        babble = "import os, sys; os.write(int(sys.argv[2]), b'\\xff' * 64)"
        some = WorkerPool(lambda: python(babble), dict, Limits(seconds=5, output=1))

        with pytest.raises(SourceUnsupported, match=r"the worker process (ended|was terminated)"):
            some.ask("pid", FILE, {})


class TestAChildThatDoesNotComeBack:
    @pytest.mark.long
    def test_is_ended_where_it_makes_no_progress(self) -> None:
        some = children(seconds=2)

        with pytest.raises(
            SourceUnsupported, match=r"no progress was made for 2 s \(to wait longer, increase CITEKIT_PARSER_TIMEOUT"
        ):
            some.ask("loop", FILE, {})

        assert "well" == some.ask("progress", FILE, {})

    def test_is_ended_where_nobody_wants_the_answer_any_more(self) -> None:
        some = children()
        pid = some.ask("pid", FILE, {})

        def unwanted(done: float, total: float | None = None, message: str = "") -> None:
            if done:
                raise Cancelled("not wanted")

        with pytest.raises(Cancelled):
            some.ask("loop", FILE, {}, unwanted)

        assert not is_alive(pid)

    @pytest.mark.long
    @pytest.mark.parametrize("what", ["loop", "ignore signals"])
    def test_does_not_outlive_its_parent_even_in_a_loop(self, tmp_path: Path, what: str) -> None:
        if what == "ignore signals" and sys.platform != "linux":
            pytest.skip("only Linux sends SIGKILL")
        told = tmp_path / "pid"
        parent = (
            "import sys; from pathlib import Path\n"
            "from citekit.adapters.system.child_process import python\n"
            "from citekit.adapters.sandbox.worker_pool import WorkerPool, Limits\n"
            f"some = WorkerPool(lambda: python({CODE!r}), dict, Limits(seconds=60, output=1))\n"
            "pid = some.ask('pid', Path('x'), {})\n"
            f"tell = lambda done, total=None, message='': done and Path({str(told)!r}).write_text(str(pid))\n"
            f"some.ask({what!r}, Path('x'), {{}}, tell)\n"
        )
        with subprocess.Popen([sys.executable, "-c", parent]) as running:
            assert until(lambda: told.exists() and bool(told.read_text()))
            running.send_signal(signal.SIGKILL)
        child = int(told.read_text())

        assert until(lambda: not is_alive(child))

    def test_takes_the_programs_that_it_runs_along(self) -> None:
        some = children()
        programs: list[int] = []

        def unwanted(done: float, total: float | None = None, message: str = "") -> None:
            if message:
                programs.append(int(done))
                raise Cancelled("Nobody waits any more.")

        with pytest.raises(Cancelled):
            some.ask("program", FILE, {}, unwanted)

        assert until(lambda: not is_running(programs[0]))

    def test_for_it_was_stopped_is_ended_all_the_same(self) -> None:
        some = children()
        pid = some.ask("pid", FILE, {})
        [parser] = some._idle
        os.kill(pid, signal.SIGSTOP)

        some.close()

        assert -signal.SIGKILL == parser.child._process.returncode  # not by the end of its pipe, which it did not see
        assert not is_alive(pid)

    def test_is_not_what_ctrl_c_in_a_terminal_is_for(self, sound: WorkerPool) -> None:
        pid: int = sound.ask("pid", FILE, {})

        assert (pid, True) == (os.getpgid(pid), pid != os.getpgrp())

    @pytest.mark.long
    def test_is_waited_for_only_as_long_as_its_caller_wants(self) -> None:
        some = children(at_most=1)
        looping = threading.Event()
        ended = threading.Event()

        def watch(done: float, total: float | None = None, message: str = "") -> None:
            looping.set()
            if ended.is_set():
                raise Cancelled("Nobody waits any more.")

        def unwanted(done: float, total: float | None = None, message: str = "") -> None:
            raise Cancelled("Nobody waits any more.")

        with ThreadPoolExecutor() as threads:
            first = threads.submit(some.ask, "loop", FILE, {}, watch)
            looping.wait(10)
            with pytest.raises(Cancelled):
                some.ask("pid", FILE, {}, unwanted)
            assert not first.done()
            ended.set()
            assert isinstance(first.exception(), Cancelled)


class TestAProcessThatWasForked:
    @pytest.mark.long
    def test_gets_the_answers_to_its_own_questions(self, tmp_path: Path) -> None:
        """Two processes that ask the same child get each other's answers."""
        program = (
            "import os; from pathlib import Path\n"
            "from citekit.adapters.system.child_process import python\n"
            "from citekit.adapters.sandbox.worker_pool import WorkerPool, Limits\n"
            f"some = WorkerPool(lambda: python({CODE!r}), dict, Limits(seconds=60, output=1))\n"
            "ask = lambda said: some.ask('echo', Path('x'), {'said': said})\n"
            "assert 'before' == ask('before')\n"
            "def wrong(name):\n"
            "    return sum(ask(f'{name} {n}') != f'{name} {n}' for n in range(100))\n"
            "forked = [os.fork() or os._exit(min(wrong(name), 100)) for name in 'ab']\n"
            "print(wrong('c'), *(os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in forked))\n"
        )

        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

        assert "0 0 0" == ran.stdout.strip()


class TestAParentWithoutStandardStreams:
    @pytest.mark.long
    def test_is_answered(self, tmp_path: Path) -> None:
        """Descriptors of pipes that are opened then have the numbers of those streams."""
        told = tmp_path / "told"
        program = (
            "import os; [os.close(each) for each in (0, 1, 2)]\n"
            "from pathlib import Path\n"
            "from citekit.adapters.system.child_process import python\n"
            "from citekit.adapters.sandbox.worker_pool import WorkerPool, Limits\n"
            f"some = WorkerPool(lambda: python({CODE!r}), dict, Limits(seconds=60, output=1))\n"
            f"Path({str(told)!r}).write_text(some.ask('echo', Path('x'), {{'said': 'well'}}))\n"
        )

        subprocess.run([sys.executable, "-c", program], timeout=60, check=True)

        assert "well" == told.read_text()


class TestLimits:
    @pytest.mark.long
    @pytest.mark.skipif(sys.platform != "linux", reason="counts other memory elsewhere")
    def test_of_memory_hold(self) -> None:
        some = children({"memory": 200_000_000})

        with pytest.raises(
            SourceUnsupported, match=r"more memory than is allowed \(to allow more, increase CITEKIT_PARSER_MEMORY"
        ):
            some.ask("memory", FILE, {"size": 10**9})

        assert 1000 == some.ask("memory", FILE, {"size": 1000})

    @pytest.mark.long
    @pytest.mark.skipif(sys.platform != "linux", reason="counts other memory elsewhere")
    def test_that_files_before_have_used_up_are_given_by_a_fresh_one(self) -> None:
        some = children({"memory": 200_000_000})
        hoarder = some.ask("hoard", FILE, {"size": 30_000_000})

        made = some.ask("memory", FILE, {"size": 160_000_000})

        assert 160_000_000 == made
        assert hoarder != some.ask("pid", FILE, {})

    @pytest.mark.long
    @pytest.mark.skipif(sys.platform != "linux", reason="counts other memory elsewhere")
    def test_of_which_much_is_held_for_nothing_end_a_child(self) -> None:
        some = children({"memory": 200_000_000})
        hoarder = some.ask("hoard", FILE, {"size": 100_000_000})

        next_one = some.ask("pid", FILE, {})

        assert hoarder != next_one

    def test_of_what_is_written_hold(self, sound: WorkerPool, tmp_path: Path) -> None:
        target = tmp_path / "out"

        with pytest.raises(SourceUnsupported, match="the output would exceed 1000 bytes"):
            sound.ask("write", FILE, {"target": str(target), "size": 5000})

        assert target.stat().st_size <= 1000

    def test_of_what_is_answered_hold(self) -> None:
        some = children({"longest": 200})

        with pytest.raises(
            SourceUnsupported, match=r"cannot be processed: its content exceeds the limit of 200 bytes\."
        ):
            some.ask("echo", FILE, {"said": "x" * 200})

        assert "well" == some.ask("echo", FILE, {"said": "well"})

    def test_of_memory_are_meant_where_a_library_cannot_be_loaded(self, sound: WorkerPool) -> None:
        with pytest.raises(
            SourceUnsupported, match=r"more memory than is allowed \(to allow more, increase CITEKIT_PARSER_MEMORY"
        ):
            sound.ask("unloaded", FILE, {})

    @pytest.mark.long
    def test_of_their_number_hold(self) -> None:
        some = children(at_most=2, slow_at_most=0)

        with ThreadPoolExecutor(4) as threads:
            pids = list(threads.map(lambda _: some.ask("sleep", FILE, {"seconds": 0.05}), range(6)))

        assert len(set(pids)) <= 2


def with_budget(seconds: float = 1, memory: int = 50_000_000, hello: dict[str, Any] | None = None) -> WorkerPool:
    limits = Limits(seconds=30, output=1000, allowance=Allowance(seconds, memory, 4_000_000_000))
    return WorkerPool(lambda: python(CODE), lambda: hello or {}, limits)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.pdf"
    path.write_bytes(b"x" * 1000)
    return path


class TestTheBudgetOfAFile:
    @pytest.mark.long
    def test_of_processor_time_ends_the_child_with_one_sentence(self, small: Path) -> None:
        some = with_budget()
        some.ask("pid", small, {})  # one that is used again is bounded as a fresh one is

        with pytest.raises(SourceUnsupported) as raised:
            some.ask("map", small, {"spin": True})

        said = "small.pdf cannot be read: it took more than 1 s of processor time (to allow more, increase CITEKIT_PARSER_CPU)."
        assert said == str(raised.value)
        assert 1000 == some.ask("measure", small, {"size": 1000})

    @pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what is held")
    def test_of_memory_counts_what_is_taken_on_top_of_what_was_held(self, small: Path) -> None:
        some = with_budget(memory=50_000_000)
        some.ask("hoard", small, {"size": 45_000_000})

        assert 45_000_000 == some.ask("map", small, {"size": 45_000_000})
        with pytest.raises(
            SourceUnsupported, match=r"more than 50 MB of memory \(to allow more, increase CITEKIT_PARSER_FILE_MEMORY"
        ):
            some.ask("map", small, {"size": 60_000_000})

    @pytest.mark.long
    def test_begins_again_with_each_request(self, small: Path) -> None:
        some = with_budget()

        for _ in range(10):
            some.ask("busy", small, {"seconds": 0.15})

        assert isinstance(some.ask("pid", small, {}), int)

    @pytest.mark.long
    def test_is_exceeded_once_then_the_same_work_is_refused_until_something_changes(self, small: Path) -> None:
        some = with_budget()
        with pytest.raises(SourceUnsupported):
            some.ask("map", small, {"spin": True})

        with pytest.raises(
            SourceUnsupported,
            match=r"CITEKIT_PARSER_\w+\)(, but the computer was busy .*)?; to try (again|now), run citekit ingest --force /",
        ):
            some.ask("map", small, {})

        some.ask("measure", small, {})  # much less work
        some.refusals.forget(small)
        some.ask("map", small, {})

    @pytest.mark.long
    def test_that_was_exceeded_on_a_busy_computer_is_tried_again_later(
        self, small: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
        moment = 1000.0
        some = with_budget()
        some.refusals = Refusals(now=lambda: moment)
        with pytest.raises(SourceUnsupported):
            some.ask("map", small, {"spin": True})

        with pytest.raises(
            SourceUnsupported, match=r"but the computer was busy or slow, so CiteKit can try again in 10 min"
        ):
            some.ask("map", small, {})

        moment += LAPSE
        some.ask("map", small, {})

    @pytest.mark.parametrize(
        ("elapsed", "load", "sample", "expected"),
        [(5, 0, 0.001, False), (9, 0, 0.001, True), (5, 1000, 0.001, True), (5, 0, 0.004, True)],
    )
    def test_is_exceeded_on_a_busy_computer_where_anything_takes_longer_than_usual(
        self, elapsed: float, load: float, sample: float, expected: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        moments = (at * sample for at in count())
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
        monkeypatch.setattr(worker_request, "thread_time", lambda: next(moments))

        assert expected == worker_request.is_busy(elapsed, 5.0)

    @pytest.mark.long
    def test_that_was_exceeded_leaves_a_child_ready_for_the_next_file(self, small: Path) -> None:
        some = with_budget()

        with pytest.raises(SourceUnsupported):
            some.ask("map", small, {"spin": True})

        assert 1 == len(some._idle)

    def test_counts_a_crash_as_exceeded(self, small: Path) -> None:
        some = with_budget()
        with pytest.raises(SourceUnsupported, match=r", which was terminated by SIGSEGV\.$"):
            some.ask("crash", small, {})

        with pytest.raises(SourceUnsupported, match=rf"SIGSEGV.*; to try again, run citekit ingest --force {small}\.$"):
            some.ask("crash", small, {})

    @pytest.mark.long
    def test_was_that_of_the_file_as_it_was(self, small: Path) -> None:
        some = with_budget()
        with pytest.raises(SourceUnsupported):
            some.ask("map", small, {"spin": True})

        small.write_bytes(b"another")

        some.ask("map", small, {})

    @pytest.mark.parametrize(
        ("name", "size", "seconds", "memory"),
        [
            ("a.pdf", 0, 5, 1000),
            ("a.pdf", 500_000, 5, 1000),
            ("a.pdf", 750_000, 10, 1000),
            ("a.pdf", 1_000_000, 15, 1100),
            ("a.pdf", 6_500_000, 125, 1600),
            ("a.pdf", 100_000_000, 1995, 4000),
            ("a.mp4", 1_000, 20, 1000),
            ("a.mp4", 50_000_000, 995, 4000),
        ],
    )
    def test_grows_with_the_file(self, name: str, size: int, seconds: float, memory: int) -> None:
        allowance = Allowance(5, 10**9, 4 * 10**9)

        assert Budget(seconds, memory * MEGABYTE, picture=30) == allowance.budget(name, size, {})

    @given(st.integers(0, 10**9), st.integers(0, 100_000))
    def test_of_processor_time_has_no_step(self, size: int, more: int) -> None:
        allowance = Allowance(5, 10**9, 4 * 10**9)

        smaller, larger = (allowance.budget("a.pdf", each, {}).seconds for each in (size, size + more))

        assert smaller <= larger <= smaller + 2.1


class TestLongRequests:
    @pytest.mark.long
    def test_make_room_for_short_ones(self) -> None:
        """Four that never end are more than there are children; without a slow lane the next would wait for all."""
        some = children(seconds=600, at_most=2, slow_at_most=1)
        ended = threading.Event()

        def watch(done: float, total: float | None = None, message: str = "") -> None:
            if ended.is_set():
                raise Cancelled("Nobody waits any more.")

        with ThreadPoolExecutor(4) as threads:
            long = [threads.submit(some.ask, "busy", FILE, {"seconds": 600}, watch) for _ in range(4)]
            try:
                answers = [some.ask("echo", Path("/files/good.pdf"), {"said": each}) for each in range(3)]
                working = some.at_work
            finally:
                ended.set()
            assert {Cancelled} == {type(each.exception()) for each in long}
        assert [0, 1, 2] == answers
        assert working <= 3
        assert 0 == some.at_work

    @pytest.mark.long
    def test_about_a_file_that_took_long_before_do_not_begin_among_the_short_ones(self) -> None:
        some = children(at_most=1, slow_at_most=1)
        begun, ended = threading.Event(), threading.Event()

        def watch(done: float, total: float | None = None, message: str = "") -> None:
            begun.set()
            if ended.is_set():
                raise Cancelled("Nobody waits any more.")

        some.ask("busy", FILE, {"seconds": 0.8})
        [slow] = some._idle
        with ThreadPoolExecutor(1) as threads:
            again = threads.submit(some.ask, "loop", FILE, {}, watch)
            try:
                begun.wait(10)
                lanes = [turn.is_slow for turn in some._lanes._turns]
                short = some.ask("pid", Path("/files/good.pdf"), {})
            finally:
                ended.set()
            assert isinstance(again.exception(), Cancelled)
        assert [True] == lanes
        assert short != slow.child._process.pid

    @pytest.mark.long
    def test_that_were_displaced_are_done_when_there_is_room(self) -> None:
        some = children(at_most=1, slow_at_most=1)

        with ThreadPoolExecutor(3) as threads:
            answers = list(threads.map(lambda _: some.ask("busy", FILE, {"seconds": 1.5}), range(3)))

        assert [True] * 3 == answers
        assert 0 == some.at_work

    def test_take_no_more_memory_together_than_there_is(self) -> None:
        lanes = Lanes(quick=4, slow=8, memory=16, reserve=4)
        slow = [lanes.enter(4, 0, is_slow=True) for _ in range(4)]
        quick = [lanes.enter(4, 0) for _ in range(2)]

        assert [True, True, True, False] == [each is not None for each in slow]
        assert [True, False] == [each is not None for each in quick]


class TestRefusals:
    STATE, SMALL, LARGE = FileState(1, 2, 3, 4, 5), Budget(5, 10**9), Budget(10, 10**9)
    TOLD = "it took too long; to try again, run citekit ingest --force FILE"

    def refused(self, *tried: tuple[str, dict[str, Any]], budget: Budget = SMALL) -> Refusals:
        some = Refusals()
        for what, arguments in tried:
            some.add(self.STATE, Work.of(what, arguments), budget, "it took too long")
        return some

    def test_name_the_home_in_the_command(self) -> None:
        some = Refusals(home_option=" --home /h")
        some.add(self.STATE, Work.of("map", {}), self.SMALL, "it took too long")

        assert f"{self.TOLD} --home /h" == some.reason(self.STATE, Work.of("map", {}), self.SMALL)

    def test_hold_for_all_that_reads_the_whole_file(self) -> None:
        some = self.refused(("map", {}))

        assert some.reason(self.STATE, Work.of("quotable", {}), self.SMALL)
        assert not some.reason(self.STATE, Work.of("measure", {}), self.SMALL)
        assert not some.reason(self.STATE, Work.of("extract", {"location": "a"}), self.SMALL)

    @pytest.mark.parametrize("second", [("measure", {}), ("extract", {"location": "a"})])
    def test_of_the_whole_file_and_of_anything_else_hold_for_all_work(self, second: tuple[str, dict[str, Any]]) -> None:
        some = self.refused(("map", {}), second)

        assert some.reason(self.STATE, Work.of("measure", {}), self.SMALL)
        assert some.reason(self.STATE, Work.of("extract", {"location": "b"}), self.SMALL)
        assert some.reason(self.STATE, Work.of("quotable", {}), self.SMALL)

    def test_end_in_a_running_server_where_another_process_has_the_file_tried_again(
        self, tmp_path: Path, small: Path
    ) -> None:
        state = FileState.of(small.stat())
        server = Refusals(Index(tmp_path / "index"))
        server.add(state, Work.of("map", {}), self.SMALL, "it took too long")
        before = server.reason(state, Work.of("map", {}), self.SMALL)

        Refusals(Index(tmp_path / "index")).forget(small)

        assert (self.TOLD, None) == (before, server.reason(state, Work.of("map", {}), self.SMALL))

    def test_hold_where_none_can_be_stored(self, tmp_path: Path) -> None:
        (tmp_path / "index").write_text("no folder")
        some = Refusals(Index(tmp_path / "index"))

        some.add(self.STATE, Work.of("map", {}), self.SMALL, "it took too long")

        assert some.reason(self.STATE, Work.of("map", {}), self.SMALL)

    def test_hold_in_the_next_process_until_the_file_is_tried_again(self, tmp_path: Path, small: Path) -> None:
        state = FileState.of(small.stat())
        Refusals(Index(tmp_path / "index")).add(state, Work.of("map", {}), self.SMALL, "it took too long")

        next_one = Refusals(Index(tmp_path / "index"))
        said = next_one.reason(state, Work.of("map", {}), self.SMALL)
        next_one.forget(small)

        assert self.TOLD == said
        assert not Refusals(Index(tmp_path / "index")).reason(state, Work.of("map", {}), self.SMALL)

    @pytest.mark.parametrize(("passed", "is_refused"), [(0, True), (LAPSE - 1, True), (LAPSE, False), (-1, False)])
    def test_of_a_busy_computer_lapse(self, tmp_path: Path, passed: float, is_refused: bool) -> None:
        def at(moment: float) -> Refusals:
            return Refusals(Index(tmp_path / "index"), lambda: moment)

        at(1000).add(self.STATE, Work.of("map", {}), self.SMALL, "it took too long", was_busy=True)

        said = at(1000 + passed).reason(self.STATE, Work.of("map", {}), self.SMALL)

        assert is_refused == (said is not None)
        assert (
            said is None or "it took too long, but the computer was busy or slow, so CiteKit can try again in " in said
        )

    def test_do_not_hold_for_a_larger_budget(self) -> None:
        some = self.refused(("map", {}))

        assert not some.reason(self.STATE, Work.of("map", {}), self.LARGE)

    def test_of_several_parts_hold_for_every_part(self) -> None:
        parts: list[tuple[str, dict[str, Any]]] = [("extract", {"location": each, "target": each}) for each in "abc"]

        assert self.refused(*parts[:1]).reason(self.STATE, Work.of("extract", {"location": "a"}), self.SMALL)
        assert not self.refused(*parts[:2]).reason(self.STATE, Work.of("extract", {"location": "d"}), self.SMALL)
        assert self.refused(*parts).reason(self.STATE, Work.of("extract", {"location": "d"}), self.SMALL)


class TestWhatGoesBetween:
    def test_progress_comes_through(self, sound: WorkerPool) -> None:
        seen: list[tuple[float, float | None, str]] = []

        def watch(done: float, total: float | None = None, message: str = "") -> None:
            seen.append((done, total, message))

        sound.ask("progress", FILE, {}, watch)

        assert (3, 4, "three of four") in seen

    @pytest.mark.parametrize(
        ("what", "kind", "text"),
        [
            ("outside", LocationOutside, "There is no page 9."),
            ("failed", ExtractionFailed, "cannot be cut"),
            (
                "missing",
                DriverMissing,
                "Reading pictures needs the extra 'ocr'. To install it, run: pip install 'citekit-evidence[ocr]'",
            ),
            ("faulty", FaultyAnswer, "a map: nodes: is missing."),
        ],
    )
    def test_errors_of_ours_come_through(
        self, sound: WorkerPool, what: str, kind: type[CiteKitError], text: str
    ) -> None:
        with pytest.raises(kind) as raised:
            sound.ask(what, FILE, {})

        assert kind is type(raised.value)
        assert text == str(raised.value)

    def test_with_the_words_of_their_cause(self, sound: WorkerPool) -> None:
        with pytest.raises(ExtractionFailed) as raised:
            sound.ask("failed", FILE, {})

        assert "ValueError: the driver's own words" == str(raised.value.__cause__)

    def test_a_fault_of_ours_is_not_told_as_one_of_the_file(self, sound: WorkerPool) -> None:
        pid = sound.ask("pid", FILE, {})

        with pytest.raises(ParserBrokenError, match="ZeroDivisionError: a fault of ours"):
            sound.ask("bug", FILE, {})

        assert pid != sound.ask("pid", FILE, {})  # a fresh one said so, too


class TestWhatAChildMay:
    def test_it_sees_no_key_of_anybody(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "a secret")
        monkeypatch.setenv("CITEKIT_PASSWORD", "another")

        seen = children().ask("environment", FILE, {})

        assert set(environment()) >= set(seen) - {"LC_CTYPE"}
        assert not {"a secret", "another"} & set(seen.values())

    @pytest.mark.long
    @pytest.mark.skipif(sys.platform != "linux", reason="Landlock is of Linux")
    def test_it_writes_runs_and_reaches_nothing_outside(self, tmp_path: Path) -> None:
        if not _landlock():
            pytest.skip("this kernel has no Landlock")
        inside, outside = tmp_path / "inside", tmp_path / "outside"
        inside.mkdir()
        some = children({"writable": [str(inside)]})

        with socket.create_server(("127.0.0.1", 0)) as server:
            refused = [
                ("write", {"target": str(outside), "size": 1}),
                ("run", {}),
                ("connect", {"port": server.getsockname()[1]}),
            ]
            for what, arguments in refused:
                with pytest.raises(ParserBrokenError, match="PermissionError"):
                    some.ask(what, FILE, arguments)

        assert some.ask("write", FILE, {"target": str(inside / "made"), "size": 1})
        assert not outside.exists()

    @pytest.mark.skipif(
        sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64"), reason="seccomp is of Linux"
    )
    def test_it_reaches_no_program_and_changes_no_file_or_process_in_ways_that_landlock_allows(
        self, tmp_path: Path
    ) -> None:
        precious = tmp_path / "precious"
        precious.write_text("mine")
        precious.chmod(0o600)
        before = precious.stat()
        some = children({"writable": []})
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
            socket.socket(socket.AF_UNIX) as local,
        ):
            receiver.bind(("127.0.0.1", 0))
            local.bind(str(tmp_path / "local"))
            local.listen()
            refused = [
                ("datagram", {"port": receiver.getsockname()[1]}),
                ("local", {"target": str(tmp_path / "local")}),
                *((what, {"target": str(precious)}) for what in ("chmod", "utime", "xattr")),
                ("leave group", {}),
                ("limit parent", {}),
                ("slow parent down", {}),
                ("look at parent", {}),
            ]
            for what, arguments in refused:
                with pytest.raises(ParserBrokenError, match="PermissionError"):
                    some.ask(what, FILE, arguments)
        assert some.ask("limit self", FILE, {})
        after = precious.stat()
        assert (before.st_mode, before.st_mtime, before.st_ctime) == (after.st_mode, after.st_mtime, after.st_ctime)


def _landlock() -> bool:
    pid = os.fork()
    if not pid:
        os._exit(0 if confine([]) else 1)
    return os.waitpid(pid, 0)[1] == 0


def test_an_ended_child_process_does_not_read_files_that_were_opened_later() -> None:
    child = ChildProcess.start(python("import time; time.sleep(60)"))
    child.kill()
    others = [os.pipe() for _ in range(4)]  # the system gives them the numbers of the closed descriptors
    for _, sink in others:
        os.write(sink, b"a letter to someone else")

    with pytest.raises(ChildProcessEndedError):
        child.receive(0)
    for source, sink in others:
        os.close(sink)
        with os.fdopen(source, "rb") as file:
            assert file.read() == b"a letter to someone else"
