"""Mappers that the user wrote, and what they do wrong."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citekit.adapters.mappers.custom import CustomMapper, load_mapper, wrap_mapper
from citekit.adapters.system.user_code import PRINTS_ASIDE
from citekit.container import Container, bootstrap
from citekit.domain.errors import Cancelled, CiteKitError, FaultyAnswer, MapperUnavailable, RequestRefused
from citekit.domain.source import Source

PLAIN = {"type": "text", "title": "T", "nodes": [{"id": "a", "title": "A", "lines": [1, 1]}]}


class Provider:
    """Calls `work` for its answer."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work

    def generate_map(self, path: str, kind: str, resource_id: str) -> Any:
        return self.work()


@pytest.fixture
def app(tmp_path: Path) -> Container:
    return bootstrap(home=tmp_path / "home")


@pytest.fixture
def source(app: Container, tmp_path: Path) -> Source:
    path = tmp_path / "notes.txt"
    path.write_text("one\ntwo\n")
    return app.sources.identify(path)


@pytest.fixture
def mapper(app: Container) -> Callable[..., CustomMapper]:
    facts = app.mapper_called("local")
    return lambda work, timeout=None: wrap_mapper(Provider(work), facts, timeout)


@pytest.fixture
def release() -> Any:
    """An event that code under test waits for; set at the end, and its threads awaited, so that none stays."""
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.name == "citekit-user-code":
            thread.join()


def test_one_that_hangs_is_given_up_after_its_time(
    mapper: Callable[..., CustomMapper], source: Source, release: threading.Event
) -> None:
    with pytest.raises(MapperUnavailable, match=r"did not finish .*notes\.txt within 0\.1 s"):
        mapper(release.wait, 0.1).map(source, "x")


def test_an_async_one_that_hangs_is_given_up_too(
    mapper: Callable[..., CustomMapper], source: Source, release: threading.Event
) -> None:
    import asyncio

    async def forever() -> None:
        while not release.is_set():
            await asyncio.sleep(0.01)

    with pytest.raises(MapperUnavailable, match="did not finish"):
        mapper(forever, 0.1).map(source, "x")


def test_one_that_hangs_without_a_time_stops_where_nobody_wants_it(
    mapper: Callable[..., CustomMapper], source: Source, release: threading.Event
) -> None:
    def give_up(done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith("waiting for custom:"):
            raise Cancelled("nobody wants it")

    with pytest.raises(Cancelled):
        mapper(release.wait).map(source, "x", give_up)


def test_it_says_how_long_it_has_been_waited_for(mapper: Callable[..., CustomMapper], source: Source) -> None:
    prompt_text: list[tuple[float, float | None]] = []
    go_on = threading.Event()

    def listen(done: float, total: float | None = None, message: str = "") -> None:
        if message.startswith("waiting for custom:"):
            prompt_text.append((done, total))
            go_on.set()

    mapper(lambda: go_on.wait() and PLAIN, 60.0).map(source, "x", listen)

    assert prompt_text
    assert all(0 < done <= 60 and total == 60 for done, total in prompt_text)


def test_one_that_was_given_up_prints_to_stderr_and_everybody_else_where_they_always_did(
    mapper: Callable[..., CustomMapper], source: Source, release: threading.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = threading.Event()

    def late() -> None:
        release.wait()
        print("late")
        ended.set()

    with pytest.raises(MapperUnavailable):
        mapper(late, 0.1).map(source, "x")
    print("ours")
    release.set()
    assert ended.wait(10)
    shown = capsys.readouterr()

    assert ("ours\n", "late\n") == (shown.out, shown.err)


def test_what_it_prints_goes_to_stderr_and_stdout_is_put_back(
    mapper: Callable[..., CustomMapper], source: Source, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sys.stdout

    def work() -> Any:
        print("DEBUG")
        thread = threading.Thread(target=print, args=("from a thread of its own",))
        thread.start()
        thread.join()
        return PLAIN

    mapper(work).map(source, "x")
    shown = capsys.readouterr()

    assert ("", "DEBUG\nfrom a thread of its own\n") == (shown.out, shown.err)
    assert before is sys.stdout
    assert not PRINTS_ASIDE._inside


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("no such page"), "failed on .*notes.txt: ValueError: no such page"),
        (KeyError("key"), "KeyError: 'key'"),
        (TimeoutError("of its own"), "failed on .*: TimeoutError: of its own"),
        (SystemExit(3), "SystemExit: 3"),
        (RecursionError(), r"failed on .*: RecursionError\.$"),
        (StopIteration(), "StopIteration"),
    ],
)
def test_what_it_raises_is_one_clear_error_with_its_cause(
    mapper: Callable[..., CustomMapper], source: Source, error: BaseException, says: str
) -> None:
    with pytest.raises(MapperUnavailable, match=says) as failure:
        mapper(raising(error)).map(source, "x")

    assert error is failure.value.__cause__


@pytest.mark.long
def test_our_own_errors_pass_through(mapper: Callable[..., CustomMapper], source: Source) -> None:
    with pytest.raises(RequestRefused, match="not this one"):
        mapper(raising(RequestRefused("not this one"))).map(source, "x")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "is not a map: its type is NoneType"),
        ("{}", "is not a map: its type is str"),
        ([], "is not a map: its type is list"),
        (object, "is not a map: its type is type"),
        ({"type": "text", "nodes": 5}, "nodes"),
        ({"type": "text", "nodes": [{"id": "a", "title": "A"}]}, r"nodes\[0\].location"),
        ({"type": "text", "nodes": [{"id": "a", "lines": [5, 9]}]}, "beyond the end"),
        ({"type": "text", "nodes": [{"id": "a", "lines": [2, 1]}]}, "reversed"),
        ({"type": "text", "nodes": [{"id": "a", "lines": [1, 1]}] * 2}, "have the ID"),
        ({"type": "text", "nodes": [{"id": "a", "lines": [1, 1], "children": [{"id": "b", "lines": [2, 2]}]}]}, "not inside"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_its_faults(
    mapper: Callable[..., CustomMapper], source: Source, answer: object, says: str
) -> None:
    with pytest.raises(FaultyAnswer, match=says):
        mapper(lambda: answer).map(source, "x")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("x = 1", "provides no mapper"),
        ("class Mapper: pass", "provides no mapper"),
        ("mapper = 5", "provides no mapper"),
        ("def create_mapper(): return None", "provides no mapper"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("def x(:", "SyntaxError"),
        ("import sys; sys.exit()", "SystemExit"),
        ("class Mapper:\n    def __init__(self): raise ValueError('no')", "ValueError: no"),
    ],
)
def test_a_file_that_is_no_mapper_is_refused(app: Container, tmp_path: Path, code: str, says: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(code)

    with pytest.raises(RequestRefused, match=says):
        load_mapper(path, {}, app.mapper_called("local"))


def test_a_setting_that_a_mapper_does_not_take_is_refused(app: Container, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("class Mapper:\n    def generate_map(self, *a): ...")

    with pytest.raises(RequestRefused, match="takes no arguments"):
        load_mapper(path, {"size": 3}, app.mapper_called("local"))


def test_many_at_once_answer_for_themselves(mapper: Callable[..., CustomMapper], source: Source) -> None:
    failures: list[CiteKitError] = []

    def one(number: int) -> None:
        try:
            made = mapper(lambda: {**PLAIN, "title": str(number)}, 30.0).map(source, "x")
            assert str(number) == made.title
        except CiteKitError as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failures
