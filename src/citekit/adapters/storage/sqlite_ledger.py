"""A ledger in one SQLite file.

Triggers keep the table `line` append-only. Table `standing` holds the number of the last line for each book, so that
the cost of a query does not grow with the history.

The file uses a rollback journal, not write-ahead logging, so that a ledger on a read-only disk can be read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from citekit.adapters.libraries.sqlite.database import make_private
from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS, Trouble, trouble_of
from citekit.adapters.storage import ledger_line
from citekit.adapters.system.files import writing
from citekit.adapters.system.home_files import check_database, make_folder
from citekit.domain.digest import Digest
from citekit.domain.distribution import UPDATE_COMMAND
from citekit.domain.errors import HomeUnwritable, LedgerCorrupt, RequestRefused
from citekit.domain.library.ledger import Deed, LedgerEntry

APPLICATION = 0x43544C47
"""The `application_id` of the file: the letters CTLG."""

VERSION = 1
"""The `user_version` of the file: the schema version."""

_TABLES = (
    "CREATE TABLE line (number INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, digest TEXT NOT NULL,"
    " deed TEXT NOT NULL, at TEXT NOT NULL, entry TEXT NOT NULL)",
    "CREATE TABLE standing (collection TEXT NOT NULL, digest TEXT NOT NULL, deed TEXT NOT NULL, number INTEGER NOT NULL,"
    " PRIMARY KEY (collection, digest)) WITHOUT ROWID",
    "CREATE INDEX standing_by_deed ON standing (deed, number)",
    "CREATE INDEX standing_by_collection ON standing (collection, deed, number)",
    "CREATE TRIGGER line_added AFTER INSERT ON line BEGIN INSERT OR REPLACE INTO standing (collection, digest, deed, number)"
    " VALUES (NEW.collection, NEW.digest, NEW.deed, NEW.number); END",
    "CREATE TRIGGER line_kept BEFORE DELETE ON line BEGIN SELECT RAISE(ABORT, 'lines are only added'); END",
    "CREATE TRIGGER line_fixed BEFORE UPDATE ON line BEGIN SELECT RAISE(ABORT, 'lines are only added'); END",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

_BY_RESOURCE = (
    "CREATE INDEX IF NOT EXISTS line_by_resource ON line"
    " (CASE WHEN json_valid(entry) THEN json_extract(entry, '$.resource_id') END)"
)
"""Creates an index that early ledgers lack until the next entry."""

_PROGRAMS = "SELECT sql FROM sqlite_master WHERE type IN ('view', 'trigger')"
"""Selects the views and triggers, through which a foreign database could run SQL during any query."""

_APPEND = "INSERT INTO line (collection, digest, deed, at, entry) VALUES (?, ?, ?, ?, ?)"
_FROM_STANDING = "SELECT entry FROM standing JOIN line ON line.number = standing.number WHERE "
_LAST = _FROM_STANDING + "standing.collection = ? AND standing.digest = ?"
_OF_ALL = _FROM_STANDING + "standing.deed = ? ORDER BY standing.number"
_OF_ONE = _FROM_STANDING + "standing.deed = ? AND standing.collection = ? ORDER BY standing.number"
_OF_RESOURCE = (
    "SELECT line.entry FROM line JOIN standing ON standing.collection = line.collection"
    " AND standing.digest = line.digest AND standing.number = line.number"
    " WHERE CASE WHEN json_valid(line.entry) THEN json_extract(line.entry, '$.resource_id') END = ?"
    " AND line.collection = ? AND line.deed IN ('finished', 'started')"
)
_HISTORY = "SELECT entry FROM line ORDER BY number DESC LIMIT ?"

_UNWRITABLE = {
    Trouble.BUSY: "another program is still writing to it; try again",
    Trouble.FULL: "the disk is full; free some space",
    Trouble.READ_ONLY: "you are not permitted to write there, or the disk is read-only; choose another home (--home DIR or "
    "CITEKIT_HOME), or another file for the ledger (ALEXANDRIA_DB)",
    Trouble.UNREACHABLE: "it cannot be opened; check that it is a file that you can read and write",
    Trouble.FAILED: "the disk or the system reported an error; check the disk and its free space",
    Trouble.TOO_MUCH: "an entry exceeds the size limit of SQLite",
    Trouble.MISUSED: "SQLite reported an unexpected error ({}); please report this bug",
}
_CORRUPT = {
    Trouble.DAMAGED: "its file is damaged",
    Trouble.FOREIGN: "it belongs to another program, or lacks tables",
}


class SqliteLedger:
    """A `Ledger` in the file `path`, created with the first entry. Each call opens its own connection."""

    def __init__(self, path: Path, *, patience: float = 10.0) -> None:
        """`patience` is how many seconds to wait for a write lock."""
        self._path = path
        self._patience = patience

    def append(self, entry: LedgerEntry) -> None:
        """See `Ledger.append`. When this method returns, the entry is on the disk."""
        text = ledger_line.written(entry)
        key = (_key(entry.collection), entry.digest.hex, entry.deed.value, ledger_line.checked(entry).at.isoformat())
        with writing(self._path):
            make_folder(self._path.parent)
        with self._opened("rwc") as connection:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            self._ready(connection, make=True)
            connection.execute(_APPEND, (*key, text))
            connection.execute("COMMIT")

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """See `Ledger.last`."""
        return next(iter(self._ask(_LAST, _key(collection), digest.hex)), None)

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """See `Ledger.books`."""
        return self._standing(Deed.FINISHED, collection)

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """See `Ledger.unfinished`. The entries are sorted, oldest first."""
        return self._standing(Deed.STARTED, collection)

    def of_resource(self, collection: str, resource_id: str) -> Sequence[LedgerEntry]:
        """See `Ledger.of_resource`."""
        return self._ask(_OF_RESOURCE, resource_id, _key(collection))

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """See `Ledger.history`."""
        return self._ask(_HISTORY, min(max(limit, 0), 2**63 - 1))

    def _standing(self, deed: Deed, collection: str | None) -> Sequence[LedgerEntry]:
        if collection is None:
            return self._ask(_OF_ALL, deed.value)
        return self._ask(_OF_ONE, deed.value, _key(collection))

    def _ask(self, question: str, *values: str | int) -> Sequence[LedgerEntry]:
        with writing(self._path):
            if not self._path.exists():
                return []
        with self._opened("rw") as connection:
            connection.execute("BEGIN")
            if not self._ready(connection, make=False):
                return []
            rows = connection.execute(question, values).fetchall()
        try:
            return [ledger_line.read(text) for (text,) in rows]
        except ValueError as error:
            raise self._corrupt(f"one of its entries cannot be read ({str(error)[:100]})") from error

    @contextmanager
    def _opened(self, mode: str) -> Iterator[sqlite3.Connection]:
        check_database(self._path)
        uri = f"{self._path.absolute().as_uri()}?mode={mode}"
        try:
            with closing(sqlite3.connect(uri, uri=True, timeout=self._patience, isolation_level=None)) as connection:
                if mode == "rwc":
                    make_private(str(self._path.absolute()))
                yield connection
        except EXCEPTIONS as error:
            trouble = trouble_of(error)
            if trouble in _CORRUPT:
                raise self._corrupt(_CORRUPT[trouble]) from error
            why = _UNWRITABLE[trouble].format(str(error)[:100])
            raise HomeUnwritable(f"Cannot use the ledger {self._path}: {why}.") from error

    def _ready(self, connection: sqlite3.Connection, *, make: bool) -> bool:
        """Return whether the tables exist. If `make` is true, create them in an empty file.

        Raise `LedgerCorrupt` if CiteKit cannot use the file, or if the file has foreign views or triggers.
        """
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application == APPLICATION and version > VERSION:
            raise LedgerCorrupt(
                f"The ledger {self._path} was written by a later version of CiteKit. Update CiteKit "
                f"({UPDATE_COMMAND}), or rename the file so that CiteKit creates a new one."
            )
        if application == APPLICATION:
            if not {sql for (sql,) in connection.execute(_PROGRAMS)}.issubset(_TABLES):
                raise self._corrupt("it has views or triggers that CiteKit did not create")
            if make:
                connection.execute(_BY_RESOURCE)
            return True
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            raise self._corrupt(_CORRUPT[Trouble.FOREIGN])
        for statement in (*_TABLES, _BY_RESOURCE) if make else ():
            connection.execute(statement)
        return make

    def _corrupt(self, why: str) -> LedgerCorrupt:
        return LedgerCorrupt(
            f"The ledger {self._path} cannot be read: {why}. Rename it (or, if it belongs to another program, set "
            "ALEXANDRIA_DB to another path), and ingest the books again, which creates a new ledger and fills the index."
        )


def _key(collection: str) -> str:
    """Return the name as stored in the tables. Raise `RequestRefused` if it is not valid Unicode."""
    try:
        collection.encode()
    except UnicodeEncodeError as error:
        raise RequestRefused(
            f"{collection!r} is not a valid name for a collection, because it is not valid Unicode."
        ) from error
    return collection
