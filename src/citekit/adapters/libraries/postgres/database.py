"""A PostgreSQL database with the tables of CiteKit, whose server may be restarted at any time."""

from __future__ import annotations

import itertools
import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from citekit.adapters.libraries import psycopg as driver
from citekit.adapters.libraries.postgres import schema
from citekit.domain.distribution import UPDATE_COMMAND
from citekit.domain.errors import CiteKitError, RequestRefused, StoreUnavailable

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow

T = TypeVar("T")

PATIENCE = 30.0
"""The time in seconds during which failed work is repeated, for example while the server restarts."""

IDLE = 4
"""The maximum number of idle connections of a `Database`."""

_LONGEST_PAUSE = 1.0
_TEMPORARY = ("40001", "40P01", "57P01", "57P02", "57P03")
"""Codes of errors after which work can succeed: transaction conflicts, and a stopping or starting server."""

_NOT_NOW = re.compile(r"FATAL: +the database system is ")
"""Matches the answers, without a code, of a server that starts or stops."""


class Database:
    """The database at a URL. The first connection migrates tables of an earlier version. Thread-safe.

    `unavailable` and `too_new` are the errors for a database that cannot be used and for tables of a later version.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float = PATIENCE,
        unavailable: type[CiteKitError] = StoreUnavailable,
        too_new: type[CiteKitError] = RequestRefused,
    ) -> None:
        """`url` has the form `postgresql://USER@HOST:PORT/DATABASE`, without a password."""
        self._url = url
        self._patience = patience
        self._unavailable = unavailable
        self._too_new = too_new
        self._idle: list[Connection] = []
        self._process = os.getpid()
        self._was_connected = False
        self._spaces: dict[str, int] = {}
        self._lock = Lock()

    def run(self, work: Callable[[Connection], T], *, is_repeatable: bool = True, is_single: bool = False) -> T:
        """Run `work` in a transaction, and return its result after the commit.

        If `is_single` is True, each statement of `work` is its own transaction, which saves two round trips.
        `work` is called again after a temporary failure, such as a lost connection or a conflict, for up to `patience`
        seconds. If `is_repeatable` is False, it is not called again once the commit was sent. Other errors of the
        database, and errors that persist, are raised as `unavailable`. In that case, nothing was changed, unless a
        commit was sent. Raise `DriverMissing` if psycopg is not installed, `RequestRefused` if the encoding of the
        database is not UTF-8, or `too_new` if a later version wrote the tables.
        """
        package = driver.package()
        deadline = time.monotonic() + self._patience
        for attempt in itertools.count():
            connection: Connection | None = None
            is_committing = False
            try:
                connection = self._lent()
                connection.autocommit = is_single
                result = work(connection)
                is_committing = True
                connection.commit()
            except package.Error as error:
                can_repeat = self._is_temporary(error, connection) and (is_repeatable or not is_committing)
                self._discard(connection)
                if not can_repeat or time.monotonic() >= deadline:
                    raise self._error(error) from error
            except BaseException:
                self._discard(connection)
                raise
            else:
                self._give_back(connection)
                return result
            time.sleep(min(0.05 * 2**attempt, _LONGEST_PAUSE))
        raise AssertionError

    def rows(self, query: str, values: Sequence[object]) -> list[TupleRow]:
        """Return the rows of a query, in one round trip. Raise the same errors as `run`."""
        return self.run(lambda connection: connection.execute(query.encode(), values).fetchall(), is_single=True)

    def space(self, name: str) -> int:
        """Return the ID of the space `name`, the rows of one store or index; create it if needed."""
        if name not in self._spaces:
            self._spaces[name] = self.run(lambda connection: _space(connection, name))
        return self._spaces[name]

    def close(self) -> None:
        """Close the idle connections. The next access opens a new connection."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _lent(self) -> Connection:
        with self._lock:
            if self._process != os.getpid():  # a fork must neither use nor close its parent's connections
                self._process, self._idle = os.getpid(), []
            if self._idle:
                return self._idle.pop()
        connection = driver.connect(self._url)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._was_connected = True
        return connection

    def _prepare(self, connection: Connection) -> None:
        """Check the encoding of the database, and migrate the tables if needed."""
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise RequestRefused(
                f"The database in CITEKIT_DATABASE has the encoding {encoding}. Create a database with the encoding "
                "UTF8, and set CITEKIT_DATABASE to it."
            )
        version = schema.version_in(connection)
        if version > schema.CURRENT:
            raise self._too_new(
                "The tables in PostgreSQL were written by a later version of CiteKit. Update CiteKit "
                f"({UPDATE_COMMAND}), or use another database (CITEKIT_DATABASE)."
            )
        if version < schema.CURRENT:
            schema.migrate(connection)
        connection.commit()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if len(self._idle) < IDLE and self._process == os.getpid():
                self._idle.append(connection)
                return
        connection.close()

    def _discard(self, connection: Connection | None) -> None:
        """Roll back, and keep the connection if it works; otherwise, close it and the idle ones."""
        if connection is None:
            self.close()
            return
        is_lost = connection.closed or connection.broken
        try:
            connection.rollback()
        except driver.package().Error:
            is_lost = True
        if is_lost:
            self.close()
            connection.close()
        else:
            self._give_back(connection)

    def _is_temporary(self, error: Exception, connection: Connection | None) -> bool:
        """Return whether the same work may succeed if it is repeated soon."""
        code = getattr(error, "sqlstate", None) or ""
        if connection is None and not code:  # do not wait for a server that was never reached
            return self._was_connected or _NOT_NOW.search(str(error)) is not None
        is_lost = connection is not None and (connection.closed or connection.broken)
        # the server gives each of its errors a code, so without one the connection failed, even if it looks open
        is_unanswered = not code and isinstance(error, driver.package().OperationalError)
        return is_lost or is_unanswered or code in _TEMPORARY or code.startswith("08")

    def _error(self, error: Exception) -> CiteKitError:
        reason = driver.message(error)
        if getattr(error, "sqlstate", None) == "42501":
            return self._unavailable(
                f"The user of CITEKIT_DATABASE lacks a permission in PostgreSQL ({reason}). The first use of a version of "
                "CiteKit must be by a user who may create tables; after that, SELECT, INSERT, UPDATE, and DELETE suffice."
            )
        return self._unavailable(f"Cannot use PostgreSQL ({reason}). Check CITEKIT_DATABASE and the server.")


def _space(connection: Connection, name: str) -> int:
    row = None
    while row is None:
        connection.execute(
            "INSERT INTO citekit_space (name, made) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING",
            (name, secrets.token_hex(16)),
        )
        row = connection.execute("SELECT id FROM citekit_space WHERE name = %s", (name,)).fetchone()
    return int(row[0])


def changed(connection: Connection, space: int) -> None:
    """Count a change of a space. Call this last in a transaction: other writers of the space then wait for its end."""
    connection.execute("UPDATE citekit_space SET changes = changes + 1 WHERE id = %s", (space,))


def key_of(resource_id: str) -> bytes:
    """Return a resource ID as bytes, because texts in PostgreSQL cannot hold every ID."""
    return resource_id.encode("utf-8", "surrogatepass")


def id_of(key: bytes) -> str:
    """Return the resource ID that `key_of` converted to `key`."""
    return key.decode("utf-8", "surrogatepass")
