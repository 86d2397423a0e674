"""A little of every kind of input, on every run; `python -m tests.faults inputs` tries thousands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.subtitles.parser import read_cues
from citekit.domain.errors import SourceUnsupported
from tests.faults import inputs, mcp_inputs
from tests.faults.devouring import Meal, Watch
from tests.faults.files import Pantry, Server, state
from tests.faults.liars import asked_of
from tests.faults.mutations import mutated, seeded
from tests.faults.table import Row
from tests.faults.targets import targets

pytestmark = pytest.mark.long

posix = pytest.mark.skipif(sys.platform == "win32", reason="children are there on POSIX only")


def broken(rows: list[Row]) -> list[Row]:
    return [row for row in rows if not row.kept]


@pytest.mark.parametrize("name", sorted(targets()))
def test_valid_examples_are_understood(name: str) -> None:
    target = targets()[name]

    meant = [target.law(seed) for seed in target.seeds]

    assert any(meant)


def test_damaged_texts_end_in_a_value_or_in_one_error() -> None:
    rows = inputs.texts(25)

    assert [] == broken(rows)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(targets())), st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_text_ends_in_a_value_or_in_one_error(name: str, data: bytes) -> None:
    assert targets()[name].law(data) in (True, False)


def test_calls_of_tools_with_spoiled_arguments_are_answered() -> None:
    assert mcp_inputs.calls_of(25).kept


def test_raw_lines_leave_the_server_alive() -> None:
    assert mcp_inputs.lines_of(25).kept


@pytest.mark.parametrize("text", [b"struct!Shelf\n    books\nend\n\nfunction `dd(book)\n    book\nend\n"])
def test_damaged_code_for_which_the_parser_makes_up_a_node_is_mapped(tmp_path: Path, text: bytes) -> None:
    from citekit.container import bootstrap
    from citekit.settings import settings_from

    path = tmp_path / "shelf.jl"
    path.write_bytes(text)

    mapped = bootstrap(settings_from({"CITEKIT_PARSERS": "inline"}, tmp_path)).ingest(path).resource_map

    assert mapped.nodes


@pytest.mark.parametrize(
    ("line", "cues"),
    [("0:-1:01.00,0:00:03.50", [(0.0, 3.5)]), ("0:00:01.00,inf", []), ("nan,0:00:01.00", [(0.0, 1.0)])],
)
def test_times_of_subtitles_that_are_none_are_the_beginning(
    tmp_path: Path, line: str, cues: list[tuple[float, float]]
) -> None:
    path = tmp_path / "a.ass"
    path.write_text(f"[Events]\nFormat: Start, End, Text\nDialogue: {line},Hello\n")

    found = [(cue.start, cue.end) for cue in read_cues(path)]

    assert cues == found


@pytest.mark.parametrize(
    "setting", ["CITEKIT_CONCURRENCY=" + "9" * 5000, "QDRANT_PORT=" + "9" * 5000, "CITEKIT_CACHE_LIMIT=0.1"]
)
def test_a_number_that_no_setting_can_be_is_refused_in_few_words(setting: str) -> None:
    assert targets()["setting"].law(setting.encode()) is False


def test_a_home_whose_name_is_too_long_is_read_as_any_other() -> None:
    assert targets()["setting"].law(b"CITEKIT_HOME=" + b"x" * 5000)


@posix
def test_damaged_files_end_in_a_map_or_in_one_error_and_leave_the_server_alive(tmp_path: Path) -> None:
    pantry = Pantry.of_small_files(tmp_path / "small", ("pdf", "png", "python", "html"))

    rows = inputs.files(tmp_path, pantry, 25)

    assert [] == broken(rows)
    assert 26 == sum(row.tried for row in rows)


@posix
def test_an_input_gives_the_same_map_and_bytes_in_another_process(tmp_path: Path) -> None:
    pantry = Pantry.of_small_files(tmp_path / "small", ("png", "html"))

    row = inputs.again(tmp_path, pantry, 3)

    assert row.kept


def test_the_same_name_is_the_same_input(tmp_path: Path) -> None:
    first = Pantry.of_small_files(tmp_path / "one", ("python", "html"))
    second = Pantry.of_small_files(tmp_path / "two", ("python", "html"))
    names = list(first.damaged(10))

    assert [first.input(name) for name in names] == [second.input(name) for name in names]


def test_every_kind_of_damage_changes_the_data() -> None:
    data = bytes(range(1, 256)) * 8

    changed = {mutated(seeded("damage", number), data, [data[::-1]])[1] for number in range(200)}

    assert data not in changed
    assert len(changed) > 150


@pytest.mark.parametrize(
    "answer",
    [
        b"[]",
        b"\xff",
        b'{"progress": 5}',
        b'{"progress": ["a", 1, 2]}',
        b'{"progress": [NaN, 1, ""]}',
        b'{"progress": [1]}',
        b'{"x": 1}',
        b'{"failed": 7}',
        b'{"short": {}}',
        b'{"done": {"kind": "page", "text": "ab", "units": [[1], [0, 1], [9]], "title": 5}}',
        b'{"done": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_a_child_that_answers_without_sense_gives_one_clear_error(answer: bytes) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the kind is asserted
        asked_of([answer])

    assert "CiteKitError" in [each.__name__ for each in type(raised.value).__mro__]
    assert 0 < len(str(raised.value)) < 500


def test_what_a_child_says_of_progress_it_means_no_longer_once_it_lies() -> None:
    with pytest.raises(
        SourceUnsupported, match=r"bad.pdf cannot be read: the worker process returned an invalid answer\."
    ):
        asked_of([b'{"progress": [1, 2, "well"]}', b"nonsense"])


def test_a_write_outside_is_seen(tmp_path: Path) -> None:
    watch = Watch((str(tmp_path),))

    watch("open", (str(tmp_path / "a"), "w", 0o1101))
    watch("open", ("/etc/passwd", "r", 0))
    watch("open", ("/elsewhere", "w", 0o1101))
    watch("os.rename", (str(tmp_path / "a"), "/elsewhere", -1, -1))
    watch("socket.connect", (None, ("127.0.0.1", 80)))
    watch("subprocess.Popen", ("/bin/sh", ["sh"], None, None))

    assert ["open", "os.rename", "socket.connect", "subprocess.Popen"] == [each.split()[0] for each in watch.trespasses]


def test_a_change_around_the_home_is_seen(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "around").mkdir()
    (tmp_path / "around" / "a.txt").write_text("a")
    before = state(tmp_path)

    (tmp_path / "home" / "b.txt").write_text("b")
    same = state(tmp_path)
    (tmp_path / "around" / "a.txt").write_text("b")
    other = state(tmp_path)

    assert before == same
    assert before != other


def test_an_error_that_is_none_of_ours_is_a_fault() -> None:
    meal = Meal("x")

    meal.attempt("divide", lambda: 1 / 0)

    assert [] == meal.refusals
    assert meal.faults[0].startswith("divide: ZeroDivisionError")


@posix
def test_a_server_that_dies_is_a_fault_and_the_next_one_goes_on(tmp_path: Path) -> None:
    pantry = Pantry.of_small_files(tmp_path / "small", ("html",))
    given = pantry.input("small/html.html")

    with Server.at(tmp_path / "server") as server:
        server.process.kill()
        server.process.wait()
        first, second = server.feed(given), server.feed(given)

    assert first.told is None
    assert first.faults[0].startswith("THE SERVER")
    assert second.faults == ()
