"""The index: plain data only, shared, disposable; and the exceptions of its drivers."""

from __future__ import annotations

import inspect
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import ModuleType

import diskcache
import filelock
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.drivers import filelock as locks
from citekit.adapters.drivers import plain_disk
from citekit.adapters.drivers.diskcache import Index

PLAIN = st.dictionaries(
    st.text(max_size=5),
    st.recursive(st.none() | st.integers(-(2**60), 2**60) | st.text(max_size=9), st.lists, max_leaves=5),
)


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


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


def test_a_planted_pickle_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    folder = tmp_path / "index"
    Index(folder).put("a", {"x": 1})
    planted = pickle.dumps(Planted(marker))
    plant(folder, "UPDATE Cache SET mode = 4, value = ? WHERE key = 'a'", (planted,))
    plant(folder, "INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 1, 'x')", (planted,))

    index = Index(folder)
    found, keys = index.get("a"), list(index.keys(""))

    assert (None, [], False) == (found, keys, marker.exists())
    assert index.put("a", {"x": 2})
    assert {"x": 2} == index.get("a")
    pickle.loads(planted)
    assert marker.exists(), "the plant would have worked"


def test_a_planted_file_name_leads_nowhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text('{"secret": 1}')
    folder = tmp_path / "index"
    Index(folder).put("a", {"x": 1})
    plant(folder, "UPDATE Cache SET mode = 3, filename = ?, value = NULL WHERE key = 'a'", ("../victim",))

    index = Index(folder)
    found = index.get("a")
    index.put("a", {"x": 2})
    plant(folder, "UPDATE Cache SET filename = ? WHERE key = 'a'", (str(victim),))
    index.forget("a")

    assert (None, True) == (found, victim.exists())


def test_planted_settings_redirect_nothing(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "index"
    Index(folder).put("a", {"x": 1})
    plant(folder, "INSERT INTO Settings VALUES ('_directory', ?)", (str(elsewhere),))

    index = Index(folder)
    index.put("b", {"x": 2})

    assert ([], {"x": 2}) == (list(elsewhere.iterdir()), index.get("b"))


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


def exceptions_of(module: ModuleType) -> list[type[Exception]]:
    found = [value for _, value in inspect.getmembers(module, inspect.isclass)]
    return [each for each in found if issubclass(each, Exception) and each.__module__.startswith(module.__name__)]


@pytest.mark.parametrize("error", [*exceptions_of(diskcache), *exceptions_of(diskcache.core), *exceptions_of(sqlite3)])
def test_every_exception_of_the_driver_has_a_meaning(error: type[Exception]) -> None:
    assert any(issubclass(error, kind) for kind in plain_disk.fates())
    assert isinstance(plain_disk.fate_of(error("x")), plain_disk.Fate)


@pytest.mark.parametrize("name", [name for name in filelock.__all__ if not name.startswith("_")])
def test_every_exception_of_a_lock_has_a_meaning(name: str) -> None:
    error = getattr(filelock, name)
    if inspect.isclass(error) and issubclass(error, Exception) and not issubclass(error, Warning):
        assert any(issubclass(error, kind) for kind in locks.errors())
