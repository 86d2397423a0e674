"""The ledger as a file: killed writers, several processes, full disks, damage, and what grows."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from citekit.adapters.libraries.sqlite.errors import Trouble
from citekit.adapters.storage import ledger_line, sqlite_ledger
from citekit.adapters.storage.sqlite_ledger import SqliteLedger
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable, LedgerCorrupt
from citekit.domain.library.ledger import Deed, LedgerEntry

WRITER = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from datetime import UTC, datetime
from citekit.adapters.storage.sqlite_ledger import SqliteLedger
from citekit.domain.digest import Digest
from citekit.domain.library.ledger import Deed, LedgerEntry
ledger = SqliteLedger(Path({ledger!r}))
for number in range({count}):
    ledger.append(LedgerEntry(deed=Deed.STARTED, at=datetime.now(UTC), collection="c", digest=Digest.of_bytes(b"{name} %d" % number),
        resource_id="r", path="/p", size=number, format="EPUB", title="{name}", author="A", language="eng"))
    print(number, flush=True)
"""


def line(title: str = "T", deed: Deed = Deed.FINISHED, collection: str = "c") -> LedgerEntry:
    return LedgerEntry(
        deed=deed,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        collection=collection,
        digest=Digest.of_bytes(title.encode()),
        resource_id="r",
        path="/p",
        size=1,
        format="EPUB",
        title=title,
        author="A",
        language="eng",
    )


def writer(ledger: Path, name: str, count: int, before: str = "") -> subprocess.Popen[str]:
    program = before + WRITER.format(
        path=[path for path in sys.path if path], ledger=str(ledger), name=name, count=count
    )
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("after", [1, 7, 20])
def test_a_killed_writer_loses_nothing_that_it_was_told_is_written(tmp_path: Path, after: int) -> None:
    path = tmp_path / "ledger.db"
    process = writer(path, "one", 100_000)
    assert process.stdout is not None
    said = [next(process.stdout) for _ in range(after)]
    process.send_signal(signal.SIGKILL)
    said += list(process.stdout)
    process.communicate()

    ledger = SqliteLedger(path)
    sizes = [entry.size for entry in ledger.unfinished()]
    ledger.append(line())

    assert list(range(len(sizes))) == sizes
    assert 0 <= len(sizes) - len(said) <= 1
    assert ["T"] == [entry.title for entry in ledger.books()]


@pytest.mark.long
def test_several_processes_write_at_once(tmp_path: Path) -> None:
    processes = [writer(tmp_path / "new" / "ledger.db", str(number), 8) for number in range(3)]
    errors = [process.communicate()[1] for process in processes]

    assert [""] * 3 == errors
    assert 24 == len(SqliteLedger(tmp_path / "new" / "ledger.db").unfinished())


def test_reading_makes_no_file(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "home" / "ledger.db")

    assert [[], [], []] == [list(lines) for lines in (ledger.books(), ledger.unfinished(), ledger.history())]
    assert [] == list(tmp_path.iterdir())


def test_lines_are_only_added(tmp_path: Path) -> None:
    SqliteLedger(tmp_path / "ledger.db").append(line())

    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        for change in ("DELETE FROM line", "UPDATE line SET deed = 'removed'"):
            with pytest.raises(sqlite3.IntegrityError, match="only added"):
                connection.execute(change)


@pytest.mark.parametrize(
    "question",
    [
        sqlite_ledger._LAST,
        sqlite_ledger._OF_ALL,
        sqlite_ledger._OF_ONE,
        sqlite_ledger._OF_RESOURCE,
        sqlite_ledger._HISTORY,
    ],
)
def test_no_question_reads_the_whole_ledger(tmp_path: Path, question: str) -> None:
    SqliteLedger(tmp_path / "ledger.db").append(line())
    values = ["x"] * (question.count("?") - 1) + [1]

    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {question}", values)]

    assert [] == [step for step in steps if "TEMP B-TREE" in step]
    assert [] == [step for step in steps if step.startswith("SCAN") and question != sqlite_ledger._HISTORY]


def test_a_ledger_without_the_index_of_resources_is_read_and_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = SqliteLedger(path)
    ledger.append(line())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX line_by_resource")

    found = ledger.of_resource(line().collection, line().resource_id)
    ledger.append(line())

    with closing(sqlite3.connect(path)) as connection:
        indexes = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'line_by_resource'").fetchall()
    assert (1, 1) == (len(found), len(indexes))


def test_many_lines_about_one_book_cost_no_more_steps_than_one(tmp_path: Path) -> None:
    def steps(lines: int) -> int:
        path = tmp_path / f"{lines}.db"
        ledger = SqliteLedger(path)
        ledger.append(line())
        with closing(sqlite3.connect(path)) as connection, connection:
            for _ in range(lines):
                connection.execute(
                    "INSERT INTO line (collection, digest, deed, at, entry) SELECT collection, digest, deed, at, entry"
                    " FROM line WHERE number = 1"
                )
            count = 0

            def counted() -> None:
                nonlocal count
                count += 1

            connection.set_progress_handler(counted, 1)
            connection.execute(sqlite_ledger._OF_ALL, ("finished",)).fetchall()
        return count

    assert abs(steps(1) - steps(1000)) <= 2


@pytest.mark.parametrize("data", [b"no database" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_file_says_how_it_is_mended_and_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(data)
    ledger = SqliteLedger(path)

    for act in (ledger.history, lambda: ledger.append(line())):
        with pytest.raises(LedgerCorrupt, match=r"ledger\.db cannot be read: .*Rename it"):
            act()

    assert data == path.read_bytes()


def test_damage_anywhere_is_our_error_or_is_not_noticed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for number in range(30):
        SqliteLedger(path).append(line(f"{number}" * 50))
    whole, refused = path.read_bytes(), 0
    for place in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + os.urandom(300) + whole[place + 300 :])
        try:
            SqliteLedger(path).history()
            SqliteLedger(path).books()
        except (LedgerCorrupt, HomeUnwritable):
            refused += 1

    assert refused


@pytest.mark.parametrize("entry", ["", "{}", "[]", "null", '{"deed": "eaten"}', "[" * 100_000])
def test_a_line_that_is_none_is_said(tmp_path: Path, entry: str) -> None:
    SqliteLedger(tmp_path / "ledger.db").append(line())
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection, connection:
        connection.execute(
            "INSERT INTO line (collection, digest, deed, at, entry) VALUES ('c', 'd', 'finished', '', ?)", [entry]
        )

    with pytest.raises(LedgerCorrupt, match="one of its entries cannot be read"):
        SqliteLedger(tmp_path / "ledger.db").history()


@pytest.mark.parametrize(
    "field",
    [{"counts": 5}, {"counts": {"words": "many"}}, {"title": None}, {"size": "1"}, {"book_id": []}, {"copy": {}}],
)
def test_a_line_with_a_field_of_another_type_is_none(field: dict[str, object]) -> None:
    plain = json.loads(ledger_line.written(line()))

    with pytest.raises(ValueError, match="Error"):
        ledger_line.read(json.dumps(plain | field))


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute("CREATE TABLE precious (data)")

    with pytest.raises(LedgerCorrupt, match="another program"):
        SqliteLedger(tmp_path / "ledger.db").append(line())

    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        assert [("precious",)] == connection.execute("SELECT name FROM sqlite_master").fetchall()


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    SqliteLedger(tmp_path / "ledger.db").append(line())
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute(f"PRAGMA user_version = {sqlite_ledger.VERSION + 1}")

    with pytest.raises(LedgerCorrupt, match="Update CiteKit"):
        SqliteLedger(tmp_path / "ledger.db").history()


def test_an_empty_file_is_a_new_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").touch()
    ledger = SqliteLedger(tmp_path / "ledger.db")

    assert [] == ledger.history()
    ledger.append(line())
    assert [line()] == ledger.history()


def test_a_full_disk_is_one_sentence_and_the_ledger_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    SqliteLedger(path).append(line())
    bounded = f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, ({path.stat().st_size + 9000},) * 2)\n"

    process = writer(path, "x" * 2000, 1000, bounded)
    _, error = process.communicate()

    assert 1 == process.returncode
    assert "HomeUnwritable: Cannot use the ledger" in error.splitlines()[-1]
    assert line() == SqliteLedger(path).history(10_000)[-1]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()

    for path in (tmp_path / "file" / "ledger.db", tmp_path / "folder"):
        with pytest.raises(HomeUnwritable, match=r"Cannot (write|use)"):
            SqliteLedger(path).append(line())


def test_a_lock_that_stays_is_one_sentence(tmp_path: Path) -> None:
    SqliteLedger(tmp_path / "ledger.db").append(line())
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")

        with pytest.raises(HomeUnwritable, match="another program"):
            SqliteLedger(tmp_path / "ledger.db", patience=0.1).append(line())
        assert [line()] == SqliteLedger(tmp_path / "ledger.db", patience=0.1).history()


AS_NOBODY = """
import os, sys
sys.path[:0] = {path!r}
from pathlib import Path
from citekit.adapters.storage.sqlite_ledger import SqliteLedger
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
ledger = SqliteLedger(Path({ledger!r}))
(line,) = ledger.books()
ledger.append(line)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="permissions of POSIX")
def test_a_read_only_ledger_is_read_and_not_written() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        SqliteLedger(folder / "ledger.db").append(line())
        (folder / "ledger.db").chmod(0o444)
        folder.chmod(0o555)
        program = AS_NOBODY.format(path=[path for path in sys.path if path], ledger=str(folder / "ledger.db"))

        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert "HomeUnwritable: Cannot use the ledger" in done.stderr.splitlines()[-1]
    assert "read-only" in done.stderr.splitlines()[-1]


def test_every_trouble_has_its_sentence() -> None:
    assert set(Trouble) == sqlite_ledger._UNWRITABLE.keys() | sqlite_ledger._CORRUPT.keys()
