"""How `metadata.db` is opened: never a byte is written, whatever state it is in; and one sentence where it cannot be read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from citekit.adapters.catalogs.calibre import database
from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
from citekit.adapters.libraries.sqlite import errors as driver
from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of
from citekit.domain.errors import LibraryUnavailable
from citekit.domain.library.books import BookFilter
from tests.calibre_made import MadeBook, add_books, make_library, writer
from tests.hot_journal import plant_journal

BOOKS = [MadeBook(title=f"Book {number}", formats={"TXT": b"text"}, comments="x" * 3000) for number in range(40)]


def look(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything in the folder: size, time of change, bytes. (Not the inode's: SQLite, run by root, gives a journal its owner.)"""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.stat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_size, status.st_mtime_ns, data)
    return found


def read_all(folder: Path) -> list[str]:
    library = CalibreLibrary(folder)
    found = [book.title for book in library.find(BookFilter(), 100)]
    assert len(found) == library.stats().books
    assert found[0] == library.get(library.find(BookFilter(), 1)[0].id).title
    return found


def crashed_while_writing(folder: Path, scratch: Path) -> None:
    """Leave the database as a program does that was killed in the middle of a transaction."""
    with closing(writer(folder)) as connection:
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN")
        connection.execute("UPDATE books SET title = 'half written ' || title")
        connection.execute("UPDATE comments SET text = 'y' || text")
        shutil.copytree(folder, scratch)
        connection.rollback()
    shutil.rmtree(folder)
    scratch.rename(folder)


def logged_ahead(folder: Path) -> sqlite3.Connection:
    """Put the database into WAL mode, with one book that is in the log alone; the connection holds the log open."""
    connection = writer(folder)
    connection.execute("PRAGMA journal_mode = WAL")
    add_books(connection, folder, [MadeBook(title="In the log", timestamp="2030-01-01")])
    return connection


def test_reading_changes_nothing(tmp_path: Path) -> None:
    before = look(make_library(tmp_path / "library", BOOKS))

    assert 40 == len(read_all(tmp_path / "library"))

    assert before == look(tmp_path / "library")


def test_after_a_crash_the_state_before_it_is_read_and_nothing_is_mended(tmp_path: Path) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    crashed_while_writing(folder, tmp_path / "scratch")
    before = look(folder)
    assert (folder / "metadata.db-journal").stat().st_size
    assert b"half written" in (folder / "metadata.db").read_bytes()

    titles = read_all(folder)

    assert {book.title for book in BOOKS} == set(titles)
    assert before == look(folder)


def test_a_journal_that_names_another_file_deletes_nothing(tmp_path: Path) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    plant_journal(folder / "metadata.db", precious)
    before = look(folder)

    titles = read_all(folder)

    assert {book.title for book in BOOKS} == set(titles)
    assert precious.read_text() == "mine"
    assert before == look(folder)


@pytest.mark.parametrize("listed", [True, False], ids=["before the commit", "after the commit"])
def test_a_crash_while_two_databases_were_written_is_read_as_the_list_of_journals_says(
    tmp_path: Path, listed: bool
) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    crashed_while_writing(folder, tmp_path / "scratch")
    journals = folder / "metadata.db-mj5F3A2B9C1"
    name = str(journals).encode()
    with (folder / "metadata.db-journal").open("ab") as file:  # as Calibre does for its notes
        file.write(bytes(4) + name + struct.pack(">2I", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7"))
    if listed:
        journals.write_bytes(f"{folder / 'metadata.db-journal'}\0".encode())
    before = look(folder)

    try:
        titles = read_all(folder)
    except LibraryUnavailable:
        titles = ["damaged"]

    assert listed == ({book.title for book in BOOKS} == set(titles))
    assert before == look(folder)


def test_a_pipe_in_place_of_the_database_or_its_log_does_not_block(tmp_path: Path) -> None:
    for number, name in enumerate(("metadata.db", "metadata.db-wal", "metadata.db-journal")):
        folder = make_library(tmp_path / str(number), BOOKS)
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

        with pytest.raises(LibraryUnavailable, match=f"{name} is not a regular file"):
            read_all(folder)


@pytest.mark.parametrize("running", [True, False])
def test_a_database_in_wal_mode_is_read_with_its_log_and_nothing_is_left_beside_it(
    tmp_path: Path, running: bool
) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    connection = logged_ahead(folder)
    if not running:
        connection.close()
    before = look(folder)

    titles = read_all(folder)

    assert "In the log" == titles[0]
    assert before == look(folder)
    connection.close()


def test_a_change_in_wal_mode_is_seen(tmp_path: Path) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    with closing(logged_ahead(folder)) as connection:
        library = CalibreLibrary(folder)
        first = library.find(BookFilter(), 1)[0].title
        add_books(connection, folder, [MadeBook(title="Later", timestamp="2031-01-01")])

        assert ["In the log", "Later"] == [first, library.find(BookFilter(), 1)[0].title]


AS_NOBODY = """
import os, sys
from pathlib import Path
sys.path[:0] = {path!r}
from citekit.adapters.catalogs.calibre.catalog import CalibreLibrary
from citekit.domain.library.books import BookFilter
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
folder = Path({folder!r})
try:
    (folder / "probe").touch()
except OSError:
    pass
else:
    sys.exit("the folder can be written")
print(len(CalibreLibrary(folder).find(BookFilter(), 100)))
"""


@pytest.mark.parametrize("state", ["plain", "crashed", "wal"])
@pytest.mark.skipif(not hasattr(os, "setuid"), reason="permissions of POSIX")
def test_a_folder_without_write_permission_is_read(tmp_path_factory: pytest.TempPathFactory, state: str) -> None:
    base = Path("/tmp") / f"citekit-test-{os.getpid()}-{state}"
    folder = make_library(base / "library", BOOKS)
    if state == "crashed":
        crashed_while_writing(folder, base / "scratch")
    if state == "wal":
        logged_ahead(folder).close()
    try:
        for path in [base, folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = look(folder)
        program = AS_NOBODY.format(path=[path for path in sys.path if path], folder=str(folder))

        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

        assert ("", 41 if state == "wal" else 40) == (done.stderr, int(done.stdout))
        assert before == look(folder)
    finally:
        for path in [base, *(path for path in base.rglob("*") if path.is_dir())]:
            path.chmod(0o755)
        shutil.rmtree(base)


def test_an_open_transaction_of_another_program_is_not_in_the_way(tmp_path: Path) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    with closing(writer(folder)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM comments WHERE id = 1")

        assert 40 == len(read_all(folder))


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    connection = sqlite3.connect(folder / "metadata.db", check_same_thread=False, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    threading.Timer(0.3, connection.execute, ["COMMIT"]).start()

    assert 40 == len(CalibreLibrary(folder, patience=20).find(BookFilter(), 100))

    connection.close()


def test_a_lock_that_stays_is_one_sentence(tmp_path: Path) -> None:
    folder = make_library(tmp_path / "library", BOOKS)
    with closing(sqlite3.connect(folder / "metadata.db", isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")

        with pytest.raises(
            LibraryUnavailable, match=r"another program is writing to metadata\.db; try again"
        ) as caught:
            CalibreLibrary(folder, patience=0.1).stats()

    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir(), lambda path: path.write_text("file")])
def test_where_there_is_no_library_it_is_said_in_the_words_of_the_contract(tmp_path: Path, make: object) -> None:
    folder = tmp_path / "none"
    make(folder)  # type: ignore[operator]

    for ask in (CalibreLibrary(folder).stats, lambda: CalibreLibrary(folder).get(1)):
        with pytest.raises(LibraryUnavailable) as caught:
            ask()

        assert f"Calibre library not found: {folder}" == str(caught.value)


@pytest.mark.parametrize("data", [b"", b"no database", b"SQLite format 3\0", b"SQLite format 3\0" + b"\0" * 5000])
def test_a_damaged_database_is_one_sentence_and_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "metadata.db").write_bytes(data)
    before = look(tmp_path)

    with pytest.raises(LibraryUnavailable, match=r"Restore database|current version of Calibre"):
        CalibreLibrary(tmp_path).stats()

    assert before == look(tmp_path)


@pytest.mark.long
def test_damage_anywhere_is_our_error_or_is_not_noticed(tmp_path: Path) -> None:
    whole = (make_library(tmp_path, BOOKS) / "metadata.db").read_bytes()
    refused = 0
    for place in range(0, len(whole), len(whole) // 60):
        (tmp_path / "metadata.db").write_bytes(whole[:place] + os.urandom(600) + whole[place + 600 :])
        library = CalibreLibrary(tmp_path)
        try:
            library.find(BookFilter(title="book"), 100)
            library.stats()
        except LibraryUnavailable:
            refused += 1

    assert refused


def test_a_database_that_was_cut_off_is_our_error(tmp_path: Path) -> None:
    whole = (make_library(tmp_path, BOOKS) / "metadata.db").read_bytes()
    (tmp_path / "metadata.db").write_bytes(whole[: len(whole) // 2])

    with pytest.raises(LibraryUnavailable, match="Restore database"):
        CalibreLibrary(tmp_path).find(BookFilter(), 100)


def test_a_newer_version_with_other_tables_is_one_sentence(tmp_path: Path) -> None:
    make_library(tmp_path, BOOKS)
    with closing(sqlite3.connect(tmp_path / "metadata.db")) as connection:
        connection.execute("ALTER TABLE books_tags_link RENAME TO tagged")
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(LibraryUnavailable, match="lacks tables or columns that CiteKit reads"):
        CalibreLibrary(tmp_path).stats()


def test_a_newer_version_with_more_tables_is_read(tmp_path: Path) -> None:
    make_library(tmp_path, BOOKS)
    with closing(sqlite3.connect(tmp_path / "metadata.db")) as connection:
        connection.execute("CREATE TABLE notes_db (id INTEGER)")
        connection.execute("ALTER TABLE books ADD COLUMN mood TEXT")
        connection.execute("PRAGMA user_version = 99")

    assert 40 == len(read_all(tmp_path))


def test_a_table_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_library(tmp_path, BOOKS)
    monkeypatch.setattr(database, "TIME_LIMIT", 0.2)
    with closing(sqlite3.connect(tmp_path / "metadata.db")) as connection:
        connection.execute("DROP TABLE books_tags_link")
        connection.execute(
            "CREATE VIEW books_tags_link AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
            " SELECT x AS id, x AS book, x AS tag FROM n"
        )

    with pytest.raises(LibraryUnavailable, match="exceeds a size or time limit"):
        CalibreLibrary(tmp_path, patience=0).stats()


def test_a_write_would_fail_twice_over(tmp_path: Path) -> None:
    folder = make_library(tmp_path, BOOKS)
    read_only = database.CalibreDatabase(folder)

    with (
        pytest.raises(sqlite3.OperationalError, match="title_sort"),
        closing(sqlite3.connect(folder / "metadata.db")) as db,
    ):
        db.execute("UPDATE books SET title = 'x'")
    with pytest.raises(LibraryUnavailable) as caught, read_only.reading() as db:
        db.execute("DELETE FROM books")

    assert "attempt to write a readonly database" == str(caught.value.__cause__)


def test_every_exception_of_sqlite_is_in_the_table() -> None:
    kinds = [kind for kind in vars(sqlite3).values() if isinstance(kind, type) and issubclass(kind, Exception)]

    assert kinds
    assert [] == [kind.__name__ for kind in kinds if kind not in driver._KINDS]
    assert {kind: driver._KINDS[kind] for kind in kinds} == {kind: trouble_of(kind()) for kind in kinds}


def test_every_result_code_of_sqlite_is_in_the_table() -> None:
    """https://www.sqlite.org/rescode.html: 1 to 26 are failures; 27 and 28 go to the log alone."""
    assert set(range(1, 27)) - {22} <= driver._CODES.keys() | {sqlite3.SQLITE_NOLFS}
    assert set(Trouble) == set(driver._CODES.values()) | {Trouble.TOO_MUCH}


def test_every_trouble_has_its_sentence() -> None:
    assert set(Trouble) == database._SAYS.keys()
