"""Files that came into a home from somebody else, as in an archive or by `git pull`, and that CiteKit did not write."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from citekit.adapters.storage.sqlite_ledger import _TABLES, SqliteLedger
from citekit.domain.errors import HomeUnsafe, LedgerCorrupt
from tests.cli.program import Cli
from tests.hot_journal import plant_journal

TRUE = "The drug is not safe.\n"
FALSE = "The drug is now safe.\n"


def book(folder: Path, text: str) -> tuple[Cli, Path]:
    """A home with a mapped file of that text, and the evidence of its first line."""
    folder.mkdir()
    cli = Cli(folder)
    cli.write("book.txt", f"{text}Another line.\n")
    cli.within("ingest", "book.txt")
    return cli, Path(cli.within("resolve", "text://book_txt#lines=1", "--json").document["output_path"])


def test_a_file_that_looks_like_a_copy_of_evidence_is_not_handed_out(tmp_path: Path) -> None:
    cli, evidence = book(tmp_path / "theirs", TRUE)
    stored = next(path for path in (cli.here / ".citekit_cache" / "evidence" / "objects").rglob("*") if path.is_file())
    looks = evidence.stat()
    evidence.unlink()
    evidence.write_text(FALSE)
    evidence.chmod(looks.st_mode)
    os.utime(evidence, ns=(looks.st_atime_ns, looks.st_mtime_ns))
    shutil.copytree(cli.here, tmp_path / "ours")  # with modes and times of modification, as tar keeps them
    cli = Cli(tmp_path / "ours")
    cli.within("ingest", "book.txt")
    assert (cli.here / stored.relative_to(tmp_path / "theirs")).is_file()

    again = cli.within("resolve", "text://book_txt#lines=1", "--json").document

    assert Path(again["output_path"]).read_text() == TRUE


@pytest.mark.parametrize("planted", ["receipts", "earlier sources"])
def test_no_planted_file_vouches_for_another_source_of_an_id(tmp_path: Path, planted: str) -> None:
    theirs, evidence = book(tmp_path / "theirs", FALSE)
    ours, _ = book(tmp_path / "ours", TRUE)
    receipts = theirs.here / ".citekit_output" / ".receipts"
    if planted == "receipts":
        shutil.copytree(receipts, ours.here / ".citekit_output" / ".receipts", dirs_exist_ok=True)
    else:
        noted = ours.here / ".resource_maps" / ".editions" / "book_txt" / "sources.txt"
        noted.parent.mkdir(parents=True)
        digest = hashlib.sha256((theirs.here / "book.txt").read_bytes()).hexdigest()
        noted.write_text(f"{digest}\n{digest} {'0' * 32}\n")

    said = ours("verify", str(evidence), "--receipt", str(receipts / f"{evidence.name}.json"), "--json")

    assert said.code == 1
    assert said.document["verdict"] == "other-source"


ENDLESS = "WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more) SELECT {columns} FROM more WHERE n < 0"


def plant_endless_views(path: Path) -> None:
    """Replace each table of a database by a view that never ends."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in (each for each in names if not each.startswith(("sqlite_", "term"))):
            columns = ", ".join(f"n AS {row[1]}" for row in connection.execute(f"PRAGMA table_info({name})"))
            connection.execute(f"DROP TABLE {name}")
            connection.execute(f"CREATE VIEW {name} AS {ENDLESS.format(columns=columns)}")


@pytest.mark.long
def test_no_view_in_a_planted_database_keeps_a_command_busy_for_ever(tmp_path: Path) -> None:
    cli, _ = book(tmp_path / "home", TRUE)
    cli.within("search", "drug")
    databases = list((cli.here / ".citekit_cache").rglob("*.db"))
    for path in databases:
        plant_endless_views(path)

    commands = (("list",), ("search", "drug"), ("find", "drug"), ("resolve", "text://book_txt#lines=2"))
    codes = [cli(*words).code for words in commands]

    assert {"cards.db", "nodes.db", "text.db", "evidence.db", "cache.db"} == {path.name for path in databases}
    assert [0, 0, 0, 0] == codes


def test_a_ledger_with_a_planted_trigger_or_view_is_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "alexandria.db"
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("DROP TABLE standing")
        connection.execute(f"CREATE VIEW standing AS {ENDLESS.format(columns='n AS deed, n AS number')}")

    with pytest.raises(LedgerCorrupt, match="views or triggers"):
        SqliteLedger(ledger).books()


def test_no_planted_journal_has_a_file_of_the_user_deleted(tmp_path: Path) -> None:
    cli, _ = book(tmp_path / "home", TRUE)
    cli.within("search", "drug")
    cli.within("find", "drug")
    precious = {}
    for path in (cli.here / ".citekit_cache").rglob("*.db"):
        precious[path.name] = tmp_path / f"precious of {path.name}"
        precious[path.name].write_text("mine")
        plant_journal(path, precious[path.name])

    answers = [
        cli(*words)
        for words in (("list",), ("search", "drug"), ("find", "drug"), ("resolve", "text://book_txt#lines=2"))
    ]

    assert {"cards.db", "nodes.db", "evidence.db", "cache.db", "text.db"} == set(precious)
    assert all(path.read_text() == "mine" for path in precious.values())
    assert any("would make SQLite delete another file" in answer.err for answer in answers)


def test_a_ledger_with_a_planted_journal_is_refused(tmp_path: Path) -> None:
    ledger, precious = tmp_path / "alexandria.db", tmp_path / "precious"
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        for statement in _TABLES:
            connection.execute(statement)
    precious.write_text("mine")
    plant_journal(ledger, precious)

    with pytest.raises(HomeUnsafe, match="would make SQLite delete another file"):
        SqliteLedger(ledger).books()

    assert precious.read_text() == "mine"
