"""A ledger in a PostgreSQL database, which several machines can share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from citekit.adapters.libraries.postgres.database import Database, key_of
from citekit.adapters.storage import ledger_line
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable, LedgerCorrupt, RequestRefused
from citekit.domain.library.ledger import Deed, LedgerEntry

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

_LOCK = "SELECT pg_advisory_xact_lock(1129599815)"  # CTLG, as in the SQLite ledger
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
    """A `Ledger` in the database at `url`. The tables are created on first use."""

    def __init__(self, url: str) -> None:
        """`url` has the form `postgresql://USER@HOST:PORT/DATABASE`, without a password."""
        self._database = Database(url, unavailable=HomeUnwritable, too_new=LedgerCorrupt)

    def append(self, entry: LedgerEntry) -> None:
        """See `Ledger.append`. The entry is as durable as the settings of the server guarantee."""
        text = ledger_line.written(entry)
        at = ledger_line.checked(entry).at.isoformat()
        key = (_name(entry.collection), entry.digest.hex, entry.deed.value, key_of(entry.resource_id), at)

        def appended(connection: Connection) -> None:
            connection.execute(_LOCK)  # lines are numbered in the order of their commits
            connection.execute(_APPEND, (*key, text))

        self._database.run(appended, is_repeatable=False)

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """See `Ledger.last`."""
        return next(iter(self._ask(_LAST, _name(collection), digest.hex)), None)

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """See `Ledger.books`."""
        return self._standing(Deed.FINISHED, collection)

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """See `Ledger.unfinished`. The entries are sorted, oldest first."""
        return self._standing(Deed.STARTED, collection)

    def of_resource(self, collection: str, resource_id: str) -> Sequence[LedgerEntry]:
        """See `Ledger.of_resource`."""
        return self._ask(_OF_RESOURCE, _name(collection), key_of(resource_id))

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """See `Ledger.history`."""
        return self._ask(_HISTORY, min(max(limit, 0), 2**63 - 1))

    def close(self) -> None:
        """Close the connections. The next access opens a new one."""
        self._database.close()

    def _standing(self, deed: Deed, collection: str | None) -> Sequence[LedgerEntry]:
        if collection is None:
            return self._ask(_OF_ALL, deed.value)
        return self._ask(_OF_ONE, deed.value, _name(collection))

    def _ask(self, question: str, *values: str | bytes | int) -> Sequence[LedgerEntry]:
        rows = self._database.rows(question, values)
        return self._parsed(lambda: [ledger_line.read(text) for (text,) in rows])

    def _parsed(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except ValueError as error:
            raise LedgerCorrupt(
                f"The ledger in PostgreSQL has an entry that cannot be read ({str(error)[:100]}). Restore the table "
                "citekit_line from a backup."
            ) from error


def _name(collection: str) -> bytes:
    """Return the name as stored in the tables. Raise `RequestRefused` if it is not valid Unicode."""
    try:
        return collection.encode()
    except UnicodeEncodeError as error:
        raise RequestRefused(
            f"{collection!r} is not a valid name for a collection, because it is not valid Unicode."
        ) from error
