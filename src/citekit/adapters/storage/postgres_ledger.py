"""A ledger in a PostgreSQL database, which machines share.

Table `citekit_line` is append-only by convention; grant only SELECT and INSERT on it to enforce that. Table
`citekit_standing` holds the number of the last line for each book, so that the cost of a query does not grow with the
history. Names are stored as bytes, because the text type of PostgreSQL has no NUL and no unpaired surrogates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from citekit.adapters.libraries import psycopg as driver
from citekit.adapters.storage import ledger_line
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable, LedgerCorrupt, RequestRefused
from citekit.domain.library.ledger import Deed, LedgerEntry

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE citekit_line (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection BYTEA NOT NULL,"
        " digest TEXT NOT NULL, deed TEXT NOT NULL, resource BYTEA NOT NULL, at TEXT NOT NULL, entry TEXT NOT NULL)",
        "CREATE TABLE citekit_standing (collection BYTEA NOT NULL, digest TEXT NOT NULL, deed TEXT NOT NULL,"
        " resource BYTEA NOT NULL, number BIGINT NOT NULL REFERENCES citekit_line, PRIMARY KEY (collection, digest))",
        "CREATE INDEX citekit_standing_by_deed ON citekit_standing (deed, number)",
        "CREATE INDEX citekit_standing_by_resource ON citekit_standing (collection, resource)",
    ),
)
"""The statements that lead from each version of the schema to the next one. They are never changed, only added to."""

_VERSION_TABLE = "CREATE TABLE IF NOT EXISTS citekit_schema (version INTEGER NOT NULL)"
_LOCK = "SELECT pg_advisory_xact_lock(1129599815)"  # CTLG, as in the SQLite ledger
_HAS_TABLES = "SELECT to_regclass('citekit_schema') IS NOT NULL"
_APPEND = (
    "WITH line AS (INSERT INTO citekit_line (collection, digest, deed, resource, at, entry)"
    " VALUES (%s, %s, %s, %s, %s, %s) RETURNING *)"
    " INSERT INTO citekit_standing (collection, digest, deed, resource, number)"
    " SELECT collection, digest, deed, resource, number FROM line ON CONFLICT (collection, digest) DO UPDATE SET"
    " deed = excluded.deed, resource = excluded.resource, number = excluded.number"
)
_FROM_STANDING = "SELECT line.entry FROM citekit_standing s JOIN citekit_line line ON line.number = s.number WHERE "
_LAST = _FROM_STANDING + "s.collection = %s AND s.digest = %s"
_OF_ALL = _FROM_STANDING + "s.deed = %s ORDER BY s.number"
_OF_ONE = _FROM_STANDING + "s.deed = %s AND s.collection = %s ORDER BY s.number"
_OF_RESOURCE = _FROM_STANDING + "s.collection = %s AND s.resource = %s AND s.deed IN ('finished', 'started')"
_HISTORY = "SELECT entry FROM citekit_line ORDER BY number DESC LIMIT %s"


class PostgresLedger:
    """A `Ledger` in the database at `url`. The tables are created with the first entry.

    Each call opens its own connection, so that a restart of the server does not affect the next call.
    """

    def __init__(self, url: str) -> None:
        """`url` has the form `postgresql://USER@HOST:PORT/DATABASE`, without a password."""
        self._url = url

    def append(self, entry: LedgerEntry) -> None:
        """Append one entry. After this method returns, it is as durable as the settings of the server say."""
        text = ledger_line.written(entry)
        at = ledger_line.checked(entry).at.isoformat()
        key = (_name(entry.collection), entry.digest.hex, entry.deed.value, _resource(entry.resource_id), at)
        with self._connected() as connection:
            connection.execute(_LOCK)  # lines are numbered in the order of their commits
            self._migrate(connection)
            connection.execute(_APPEND, (*key, text))

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """Return the last entry about that book in that collection, or None."""
        return next(iter(self._ask(_LAST, _name(collection), digest.hex)), None)

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `FINISHED`, oldest first."""
        return self._standing(Deed.FINISHED, collection)

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `STARTED`, oldest first."""
        return self._standing(Deed.STARTED, collection)

    def of_resource(self, collection: str, resource_id: str) -> Sequence[LedgerEntry]:
        """Return the last entry of each book of that resource if it is `FINISHED` or `STARTED`."""
        return self._ask(_OF_RESOURCE, _name(collection), _resource(resource_id))

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """Return the latest entries, newest first."""
        return self._ask(_HISTORY, min(max(limit, 0), 2**63 - 1))

    def _standing(self, deed: Deed, collection: str | None) -> Sequence[LedgerEntry]:
        if collection is None:
            return self._ask(_OF_ALL, deed.value)
        return self._ask(_OF_ONE, deed.value, _name(collection))

    def _ask(self, question: str, *values: str | bytes | int) -> Sequence[LedgerEntry]:
        with self._connected() as connection:
            if not self._version(connection):
                return []
            rows = connection.execute(question.encode(), values).fetchall()
        return self._parsed(lambda: [ledger_line.read(text) for (text,) in rows])

    def _migrate(self, connection: Connection) -> None:
        """Bring the tables to the current version, in the transaction of the caller."""
        version = self._version(connection)
        if version == len(MIGRATIONS):
            return
        connection.execute(_VERSION_TABLE)
        for statement in (each for step in MIGRATIONS[version:] for each in step):
            connection.execute(statement.encode())
        connection.execute("DELETE FROM citekit_schema")
        connection.execute("INSERT INTO citekit_schema VALUES (%s)", (len(MIGRATIONS),))

    def _version(self, connection: Connection) -> int:
        """Return the version of the tables, or 0 if there are none. Raise `LedgerCorrupt` if it is a later one."""
        if connection.execute(_HAS_TABLES).fetchone() != (True,):
            return 0
        row = connection.execute("SELECT version FROM citekit_schema").fetchone()
        version = row[0] if row else 0
        if version > len(MIGRATIONS):
            raise LedgerCorrupt(
                "The ledger in PostgreSQL was written by a later version of CiteKit. Update CiteKit, or name another "
                "database (CITEKIT_DATABASE)."
            )
        return int(version)

    def _parsed(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except ValueError as error:
            raise LedgerCorrupt(
                f"The ledger in PostgreSQL has an entry that cannot be read ({str(error)[:100]}). Restore the table "
                "citekit_line from a backup."
            ) from error

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        package = driver.package()
        try:
            with driver.transaction(self._url) as connection:
                yield connection
        except package.Error as error:
            raise HomeUnwritable(
                f"Cannot use the ledger in PostgreSQL ({driver.message(error)}). Check CITEKIT_DATABASE and the server."
            ) from error


def _name(collection: str) -> bytes:
    """Return the name as stored in the tables. Raise `RequestRefused` if it is not valid Unicode."""
    try:
        return collection.encode()
    except UnicodeEncodeError as error:
        raise RequestRefused(
            f"{collection!r} is not a valid name for a collection, because it is not valid Unicode."
        ) from error


def _resource(resource_id: str) -> bytes:
    return resource_id.encode("utf-8", "surrogatepass")
