"""Opens SQLite files, creates their tables, and detects errors that mean that a file is damaged.

Modules are imported on first use.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from sqlite3 import Connection

CACHE = 8 * 1024
"""Size of the page cache of each connection, in KiB."""

_FOREIGN = "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger') LIMIT 1"

POLL = 0.005
"""Seconds between attempts to initialize a file while another process initializes it."""

_T = TypeVar("_T")


class Tables(NamedTuple):
    """The SQL statements that create the tables of a file, and the settings of the file.

    `form` is the unique number of the schema (`user_version`, 31 bits). `synchronous` is SQLite's setting; `OFF` is for
    rows with checksums. Unless it is `shared`, only the owner can read the file, because rows may reveal private files.
    """

    form: int
    statements: Sequence[str]
    synchronous: str = "NORMAL"
    shared: bool = False


def connected(path: str, mode: str, patience: float) -> Connection:
    """Open a connection to the file at the absolute `path` with the SQLite URI `mode`.

    `patience` is the time to wait for a lock, in seconds. Raise one of `errors.EXCEPTIONS` if the file cannot be
    opened.
    """
    import sqlite3

    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # https://www.sqlite.org/uri.html, 3.1
    address = f"file:{'//' if name.startswith('/') else ''}{name}?mode={mode}"
    return sqlite3.connect(address, patience, isolation_level=None, check_same_thread=False, uri=True)


def make_private(path: str) -> None:
    """Restrict access to a database file and its log files to the owner. Errors are ignored."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):
            status = os.lstat(name)
            if stat.S_ISREG(status.st_mode) and status.st_mode & 0o077:
                os.chmod(name, stat.S_IMODE(status.st_mode) & 0o700)  # noqa: PTH101 - pathlib is slow to import


def is_ready(connection: Connection, tables: Tables) -> bool:
    """Return whether the file has the schema number of `tables`.

    Raise one of `errors.EXCEPTIONS` if it cannot be read, or has views or triggers, which someone else may have added
    to run with every query.
    """
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    if form != tables.form:
        return False
    if connection.execute(_FOREIGN).fetchone() is not None:
        import sqlite3

        raise sqlite3.DatabaseError("the file has views or triggers that CiteKit did not create")
    return True


def make_ready(connection: Connection, tables: Tables, patience: float) -> None:
    """Create the tables if the file is empty, and apply the settings of `tables` to the connection.

    Wait up to `patience` seconds for other processes that create the tables. Raise one of `errors.EXCEPTIONS` on
    failure or if the file has other tables.
    """
    if not is_ready(connection, tables):
        _keep_log(connection, patience)
        whole(connection, lambda each: _make(each, tables))
    connection.execute(f"PRAGMA synchronous = {tables.synchronous}")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")


def whole(connection: Connection, action: Callable[[Connection], _T]) -> _T:
    """Run `action` in one transaction and return its result; roll back if `action` raises an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = action(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def is_damage(error: Exception) -> bool:
    """Return whether `error` means that the file is corrupt, not a database, or has other tables."""
    from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of

    return trouble_of(error) in (Trouble.DAMAGED, Trouble.FOREIGN)


def is_about_file(error: Exception) -> bool:
    """Return whether `error` concerns the file, and not only the values of the failed operation."""
    from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of

    return trouble_of(error) not in (Trouble.TOO_MUCH, Trouble.MISUSED)


def is_unopened(error: Exception) -> bool:
    """Return whether `error` means that the file cannot be opened in this mode, as on a read-only disk."""
    from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of

    return trouble_of(error) in (Trouble.UNREACHABLE, Trouble.READ_ONLY)


def _keep_log(connection: Connection, patience: float) -> None:
    """Switch the file to a write-ahead log. Wait for other processes that do the same, because SQLite does not wait."""
    from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS, Trouble, trouble_of

    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except EXCEPTIONS as error:
            if trouble_of(error) is not Trouble.BUSY or time.monotonic() > until:
                raise
            time.sleep(POLL)
        else:
            return


def _make(connection: Connection, tables: Tables) -> None:
    import sqlite3

    if is_ready(connection, tables):
        return  # another process was faster
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    if form or connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
        raise sqlite3.DatabaseError("the file has tables that CiteKit did not create")
    for statement in tables.statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {tables.form}")
