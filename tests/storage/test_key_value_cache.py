"""The index: plain data only, shared, disposable; and the exceptions of its drivers."""

from __future__ import annotations

import inspect
import os
import pickle
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import filelock
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.sqlite import database as sqlite_tables
from citekit.adapters.libraries.sqlite import errors, key_value_cache
from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.system import file_locks as locks

PLAIN = st.dictionaries(
    st.text(max_size=5),
    st.recursive(st.none() | st.integers(-(2**60), 2**60) | st.text(max_size=9), st.lists, max_leaves=5),
)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index(tmp_path_factory.mktemp("home") / "index")


@given(value=PLAIN)
def test_plain_data_comes_back(shared: Index, value: dict[str, object]) -> None:
    shared.put("key", value)

    assert value == shared.get("key")


def test_looking_makes_nothing(tmp_path: Path) -> None:
    index = Index(tmp_path / "index")
    index.forget("a")

    assert (None, [], []) == (index.get("a"), list(index.keys("")), list(tmp_path.iterdir()))


def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    index = Index(tmp_path / "index")
    index.put("a:1", {"x": 1})
    index.put("b:1", {"x": 2})
    index.forget("a:1")

    assert (None, {"x": 2}, ["b:1"]) == (index.get("a:1"), index.get("b:1"), list(index.keys("b:")))


def test_a_counter_loses_nothing(tmp_path: Path) -> None:
    indexes = [Index(tmp_path / "index") for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: [indexes[number].add("n", 1) for _ in range(50)], range(4)))

    assert 200 == indexes[0].add("n", 0)


def test_it_is_nobody_elses_to_read(tmp_path: Path) -> None:
    Index(tmp_path / "index").put("a", {})

    assert 0o700 == (tmp_path / "index").stat().st_mode & 0o777


def plant(folder: Path, statement: str, values: tuple[object, ...]) -> None:
    with closing(sqlite3.connect(folder / "cache.db")) as connection, connection:
        connection.execute(statement, values)


@pytest.mark.parametrize("value", [pickle.dumps({"x": 1}), 7, 0.5, "7", "[1]", '{"x"', "[" * 100_000])
def test_a_planted_value_that_is_no_object_counts_as_missing(tmp_path: Path, value: object) -> None:
    folder = tmp_path / "index"
    Index(folder).put("a", {"x": 1})
    plant(folder, "UPDATE Cache SET value = ? WHERE key = 'a'", (value,))
    plant(folder, "INSERT INTO Cache (key, value) VALUES (?, 'x')", (b"bytes",))

    index = Index(folder)

    assert (None, ["a"]) == (index.get("a"), list(index.keys("")))
    assert index.put("a", {"x": 2})
    assert {"x": 2} == index.get("a")


def test_keys_are_given_in_order_however_many(tmp_path: Path) -> None:
    index = Index(tmp_path / "index")
    index.put_all([(f"{kind}:{number:04d}", {}) for kind in "abc" for number in range(2500)])

    assert [f"b:{number:04d}" for number in range(2500)] == list(index.keys("b:"))


def test_beyond_the_limit_the_rows_go_that_were_written_longest_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_value_cache, "LIMIT", 200_000)
    index = Index(tmp_path / "index")
    for number in range(100):
        index.put(f"{number:03d}", {"x": "y" * 10_000})
        index.put("often", {"x": number})

    kept = list(index.keys(""))

    assert ["099", "often"] == kept[-2:]
    assert kept[0] > "050"


def test_a_process_that_was_forked_has_a_connection_of_its_own(tmp_path: Path) -> None:
    index = Index(tmp_path / "index")
    index.put("a", {"x": 1})
    child = os.fork()
    if not child:
        os._exit(0 if index.get("a") == {"x": 1} and index.put("b", {"x": 2}) else 1)

    _, status = os.waitpid(child, 0)

    assert (0, {"x": 2}) == (status, index.get("b"))


def test_a_database_that_was_replaced_or_deleted_is_opened_again(tmp_path: Path) -> None:
    index, other = Index(tmp_path / "index"), Index(tmp_path / "other")
    index.put("a", {"x": 1})
    other.put("a", {"x": 2})

    (tmp_path / "index").rename(tmp_path / "gone")
    (tmp_path / "other").rename(tmp_path / "index")
    replaced = index.get("a")
    shutil.rmtree(tmp_path / "index")

    assert ({"x": 2}, None) == (replaced, index.get("a"))
    assert (True, {"x": 3}) == (index.put("a", {"x": 3}), index.get("a"))


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_damaged_database_is_set_aside(tmp_path: Path, size: int) -> None:
    folder = tmp_path / "index"
    index = Index(folder)
    index.put("a", {"x": "y" * 10_000})
    index.close()
    database = folder / "cache.db"
    database.write_bytes(database.read_bytes()[:size] + b"\xff" * 5000 * bool(size))

    again = Index(folder)

    assert again.get("a") is None
    assert again.put("a", {"x": 1})
    assert {"x": 1} == again.get("a")


def test_tables_of_another_shape_are_damage(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index(folder).put("a", {"x": 1})
    plant(folder, "DROP TABLE Cache", ())
    plant(folder, "CREATE TABLE Cache (rowid INTEGER PRIMARY KEY, key TEXT)", ())

    index = Index(folder)

    assert (True, {"x": 2}) == (index.put("b", {"x": 2}), index.get("b"))


def test_damage_that_comes_while_it_is_open_is_mended(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = Index(folder)
    index.put("a", {"x": 1})
    plant(folder, "DROP TABLE Cache", ())

    assert (None, True, {"x": 2}) == (index.get("a"), index.put("b", {"x": 2}), index.get("b"))


def test_a_folder_that_cannot_be_made_is_an_index_that_remembers_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = Index(tmp_path / "file" / "index")

    assert (False, None, None) == (index.put("a", {}), index.get("a"), index.add("n", 1))


SQLITE: list[type[Exception]] = [
    value for _, value in inspect.getmembers(sqlite3, inspect.isclass) if issubclass(value, Exception)
]
DAMAGE = {sqlite3.DatabaseError, sqlite3.InternalError, sqlite3.IntegrityError, sqlite3.NotSupportedError}


@pytest.mark.parametrize("error", SQLITE)
def test_every_exception_of_the_driver_has_a_meaning(error: type[Exception]) -> None:
    raised = error("x")

    assert isinstance(raised, errors.EXCEPTIONS)
    assert (error in DAMAGE) == sqlite_tables.is_damage(raised)


@pytest.mark.parametrize("name", [name for name in filelock.__all__ if not name.startswith("_")])
def test_every_exception_of_a_lock_has_a_meaning(name: str) -> None:
    error = getattr(filelock, name)
    if inspect.isclass(error) and issubclass(error, Exception) and not issubclass(error, Warning):
        assert any(issubclass(error, kind) for kind in locks.errors())
