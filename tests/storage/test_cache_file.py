"""A file of things that can be made again: whatever becomes of it is dealt with alike, whoever uses it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from citekit.adapters.libraries.sqlite import cache_file, database
from citekit.adapters.libraries.sqlite.cache_file import SqliteFile, UnusableError
from citekit.adapters.libraries.sqlite.database import Tables

TABLES = Tables(7, ("CREATE TABLE note (text TEXT NOT NULL)",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder 100%?#" / "notes.db"


def file_at(path: Path, patience: float = 5.0) -> SqliteFile:
    return SqliteFile(path, TABLES, patience=patience)


def noted(file: SqliteFile, text: str) -> bool:
    return file.write(lambda each: each.execute("INSERT INTO note VALUES (?)", (text,))) is not None


def notes(file: SqliteFile) -> list[str] | None:
    return file.read(lambda each: [text for (text,) in each.execute("SELECT text FROM note ORDER BY text")])


def test_reading_makes_nothing_and_lending_does(path: Path, tmp_path: Path) -> None:
    file = file_at(path)
    unread, before = notes(file), list(tmp_path.iterdir())
    with file.lent() as connection:
        connection.execute("INSERT INTO note VALUES ('a')")

    assert (None, [], ["a"]) == (unread, before, notes(file))


def test_a_transaction_that_was_left_open_is_undone(path: Path) -> None:
    file = file_at(path)
    with file.lent() as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO note VALUES ('a')")

    assert [] == notes(file)


def test_what_fails_in_the_middle_is_not_written_and_what_the_caller_raises_goes_through(path: Path) -> None:
    file = file_at(path)

    def failing(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO note VALUES ('a')")
        raise KeyError

    with pytest.raises(KeyError):
        file.write(failing)

    assert [] == notes(file)


def test_values_that_do_not_fit_are_refused_and_the_next_are_not(path: Path) -> None:
    file = file_at(path)
    kept = [noted(file, text) for text in ("\ud800", "a")]
    refused = file.write(lambda each: each.execute("INSERT INTO note VALUES (?)", (2**70,)))

    assert ([False, True], None, ["a"]) == (kept, refused, notes(file))


def test_a_file_that_is_replaced_while_it_is_lent_is_not_lent_again(path: Path, tmp_path: Path) -> None:
    file, other = file_at(path), file_at(tmp_path / "other" / "notes.db")
    noted(file, "old")
    noted(other, "new")
    other.close()
    with file.lent() as connection:
        path.parent.rename(tmp_path / "gone")
        (tmp_path / "other").rename(path.parent)
        lent = connection.execute("SELECT text FROM note").fetchall()

    assert ([("old",)], ["new"]) == (lent, notes(file))


def test_damage_that_one_finds_does_not_cost_the_file_that_another_made_meanwhile(path: Path) -> None:
    file, other = file_at(path), file_at(path)
    noted(file, "old")

    def find_damage() -> None:
        with file.lent() as connection:
            shutil.rmtree(path.parent)
            noted(other, "new")
            connection.execute("SELECT * FROM missing")

    with pytest.raises(UnusableError):
        find_damage()

    assert ["new"] == notes(other) == notes(file)


@pytest.mark.parametrize("damage", [b"", b"no database " * 999, b"SQLite format 3\0"])
def test_a_damaged_file_is_made_anew_with_nothing_left_beside_it(path: Path, damage: bytes, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    file = file_at(path)

    assert (True, ["a"]) == (noted(file, "a"), notes(file))
    file.close()
    assert [path] == [each for each in tmp_path.rglob("*") if each.is_file()]


@pytest.mark.parametrize("damage", [b"", b"no database " * 999, b"SQLite format 3\0"])
def test_a_damaged_file_is_lent_anew(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)

    with file_at(path).lent() as connection:
        assert [] == connection.execute("SELECT * FROM note").fetchall()


def test_while_another_program_writes_it_is_read_and_nobody_waits_twice(path: Path) -> None:
    file = file_at(path, patience=0.01)
    noted(file, "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        held = [noted(file, "b"), notes(file)]
    waits = noted(file, "c")

    assert ([False, ["a"]], False) == (held, waits)


def test_after_a_pause_it_is_written_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_file, "PAUSE", 0.01)
    file = file_at(path, patience=0.01)
    noted(file, "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        noted(file, "b")
    time.sleep(0.02)

    assert (True, ["a", "c"]) == (noted(file, "c"), notes(file))


def test_on_a_read_only_disk_it_is_read_lent_and_kept_whatever_is_wrong(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file_at(path)
    noted(before, "a")
    before.close()
    plain = database.connected

    def refusing(path: str, mode: str, patience: float) -> sqlite3.Connection:
        if "immutable" not in mode:
            return plain("/none/notes.db", "ro", patience)
        return plain(path, mode, patience)

    monkeypatch.setattr(cache_file, "connected", refusing)
    file = file_at(path)
    with file.lent() as connection:
        lent = connection.execute("SELECT text FROM note").fetchall()
    wrong = file.read(lambda each: each.execute("SELECT * FROM missing").fetchall())

    assert ([("a",)], ["a"], False, None, True) == (lent, notes(file_at(path)), noted(file, "b"), wrong, path.exists())


@pytest.mark.long
def test_of_many_processes_that_make_it_at_once_all_write(path: Path) -> None:
    script = (
        "import sys; from citekit.adapters.libraries.sqlite.cache_file import SqliteFile;"
        "from citekit.adapters.libraries.sqlite.database import Tables;"
        "file = SqliteFile(sys.argv[1], Tables(7, ('CREATE TABLE note (text TEXT NOT NULL)',)));"
        "sys.stdin.read(1);"
        "assert file.write(lambda each: each.execute('INSERT INTO note VALUES (1)')) is not None"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, path], stdin=subprocess.PIPE) for _ in range(6)]
    time.sleep(0.3)
    for each in started:
        assert each.stdin is not None
        each.stdin.close()

    assert [0] * 6 == [each.wait() for each in started]
    assert 6 == len(notes(file_at(path)) or ())


def test_of_many_threads_that_make_it_at_once_all_write(path: Path) -> None:
    files = [file_at(path) for _ in range(4)]
    together = threading.Barrier(8)

    def write(number: int) -> bool:
        together.wait()
        return noted(files[number % 4], f"{number}")

    with ThreadPoolExecutor(8) as pool:
        assert [True] * 8 == list(pool.map(write, range(8)))

    assert [f"{number}" for number in range(8)] == notes(files[0])


def test_a_forked_process_writes_through_a_connection_of_its_own(path: Path) -> None:
    file = file_at(path)
    noted(file, "a")
    child = os.fork()
    if not child:
        os._exit(0 if notes(file) == ["a"] and noted(file, "b") else 1)

    _, status = os.waitpid(child, 0)

    assert (0, True, ["a", "b", "c"]) == (status, noted(file, "c"), notes(file))


def test_its_module_imports_next_to_nothing() -> None:
    heavy = ("attr", "attrs", "sqlite3", "shutil", "pathlib", "filelock", "json", "tempfile")
    script = (
        "import sys; before = set(sys.modules); import citekit.adapters.libraries.sqlite.text_table;"
        f"print([each for each in {heavy} if each in set(sys.modules) - before])"
    )

    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert "[]\n" == said
