"""A table that may be lost, locked, damaged or replaced at any time: it knows less then, and says nothing wrong."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.sqlite import cache_file, database, text_table
from citekit.adapters.libraries.sqlite.text_table import SqliteRows

ROWS = {f"key {number}": f"text {number} " + "x" * 40 for number in range(300)}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "table 100%?#" / "rows.db")


@pytest.fixture
def filled(path: str) -> str:
    rows = SqliteRows(path)
    rows.put(ROWS)
    rows.close()
    return path


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> SqliteRows:
    return SqliteRows(str(tmp_path_factory.mktemp("shared") / "folder" / "rows.db"))


@given(key=st.text(), text=st.text())
def test_what_was_put_is_got_or_was_refused(shared: SqliteRows, key: str, text: str) -> None:
    kept = shared.put({key: text})

    assert (text if kept else None) == (shared.get(key) if kept else None)
    assert kept == (not any("\ud800" <= each <= "\udfff" for each in key + text))


def test_looking_makes_nothing(path: str, tmp_path: Path) -> None:
    rows = SqliteRows(path)
    rows.drop(["a"])

    assert (None, {}, []) == (rows.get("a"), rows.all(), list(tmp_path.iterdir()))


def test_rows_are_seen_by_another_process_until_they_are_dropped(path: str) -> None:
    rows = SqliteRows(path)
    rows.put({"a": "1", "b": "2"})
    rows.drop(["a"])
    script = "import sys; from citekit.adapters.libraries.sqlite.text_table import SqliteRows; print(SqliteRows(sys.argv[1]).all())"

    said = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True).stdout

    assert "{'b': '2'}\n" == said


def test_a_folder_that_is_deleted_while_the_table_is_open_is_made_again(filled: str) -> None:
    rows = SqliteRows(filled)
    before = rows.get("key 1")
    shutil.rmtree(Path(filled).parent)

    gone = rows.get("key 1")
    rows.put({"new": "row"})

    assert (ROWS["key 1"], None, {"new": "row"}) == (before, gone, rows.all())
    assert {"new": "row"} == SqliteRows(filled).all()


def test_a_table_that_is_replaced_by_another_is_read_anew(filled: str, tmp_path: Path) -> None:
    rows, other = SqliteRows(filled), SqliteRows(str(tmp_path / "other" / "rows.db"))
    rows.get("key 1")
    other.put({"key 1": "other"})
    other.close()
    shutil.rmtree(Path(filled).parent)
    (tmp_path / "other").rename(Path(filled).parent)

    assert "other" == rows.get("key 1")


@pytest.mark.long
def test_a_table_with_flipped_bytes_says_nothing_wrong(filled: str) -> None:
    whole = Path(filled).read_bytes()
    for place in range(0, len(whole), 131):
        shutil.rmtree(Path(filled).parent, ignore_errors=True)
        Path(filled).parent.mkdir()
        Path(filled).write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        rows = SqliteRows(filled)

        found = rows.all()
        one = rows.get("key 7")
        rows.close()

        assert found.items() <= ROWS.items()
        assert one in (None, ROWS["key 7"])


DAMAGE = {
    "no database": b"this is no database, only some text that is long enough to be taken for the head of one" * 99,
    "half a head": b"SQLite format 3\0",
    "empty": b"",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_table_is_made_anew(filled: str, damage: str) -> None:
    Path(filled).write_bytes(DAMAGE[damage])
    rows = SqliteRows(filled)

    before = rows.all()
    kept = rows.put({"new": "row"})

    assert ({}, True, {"new": "row"}) == (before, kept, rows.all())


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE other (x)", "CREATE TABLE rows (x)", "CREATE VIEW rows AS SELECT 1"]
)
def test_a_database_with_other_tables_counts_as_damaged(path: str, statement: str) -> None:
    Path(path).parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    rows = SqliteRows(path)

    before = rows.all()
    kept = rows.put({"new": "row"})

    assert ({}, True, {"new": "row"}) == (before, kept, SqliteRows(path).all())


def test_rows_that_somebody_else_wrote_count_as_missing(filled: str) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("UPDATE rows SET text = 'planted' WHERE key = 'key 1'")
        connection.execute("UPDATE rows SET text = 5 WHERE key = 'key 2'")
        connection.execute("UPDATE rows SET text = x'ff', mark = NULL WHERE key = 'key 3'")
        connection.commit()

    found = SqliteRows(filled).all()

    assert {key: text for key, text in ROWS.items() if key not in ("key 1", "key 2", "key 3")} == found


def test_a_table_that_another_program_holds_is_read_and_not_written(
    filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_table, "PATIENCE", 0.01)
    rows = SqliteRows(filled)
    with closing(sqlite3.connect(filled, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")

        read, kept, again = rows.get("key 1"), rows.put({"new": "row"}), rows.put({"new": "row"})

    assert (ROWS["key 1"], False, False) == (read, kept, again)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_table_that_may_not_be_written_is_read(filled: str) -> None:
    Path(filled).chmod(0o400)
    Path(filled).parent.chmod(0o500)
    rows = SqliteRows(filled)

    read, kept = rows.all(), rows.put({"new": "row"})
    Path(filled).parent.chmod(0o700)

    assert (ROWS, False) == (read, kept)


def test_a_table_on_a_read_only_disk_is_read(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = database.connected

    def refusing(path: str, mode: str, patience: float) -> sqlite3.Connection:
        return plain(path, "ro&immutable=1", patience)

    monkeypatch.setattr(cache_file, "connected", refusing)
    rows = SqliteRows(filled)

    assert (ROWS, False) == (rows.all(), rows.put({"new": "row"}))


@pytest.mark.parametrize("in_the_way", ["file", "folder"])
def test_what_lies_in_the_way_of_the_table_only_makes_it_forgetful(path: str, in_the_way: str) -> None:
    if in_the_way == "file":
        Path(path).parent.write_text("a file")
    else:
        Path(path).mkdir(parents=True)
    rows = SqliteRows(path)

    assert (False, None, {}) == (rows.put({"a": "1"}), rows.get("a"), rows.all())


def test_many_threads_share_a_table(path: str) -> None:
    rows = SqliteRows(path)

    def work(number: int) -> None:
        for each in range(30):
            rows.put({f"{number}:{each}": "text"})
            rows.get(f"{number}:{each}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 120 == len(rows.all())
