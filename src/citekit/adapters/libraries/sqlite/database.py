"""How a SQLite file of our own begins: its connections, its tables, and which errors mean that only a new file helps.

Imports next to nothing before it is used.
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
"""KiB of pages that each connection keeps in memory."""

_FOREIGN = "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger') LIMIT 1"

POLL = 0.005
"""Seconds between two attempts to begin a file that others are about to begin."""

_T = TypeVar("_T")


class Tables(NamedTuple):
    """The statements that make the tables, and a number that no other form of them has had (`user_version`, 31 bits).

    `synchronous` is that of SQLite: `OFF` is for rows that are proof against a power cut by themselves.
    The file is its owner's alone, since rows may tell what is in files that others may not read, unless it is `shared`.
    """

    form: int
    statements: Sequence[str]
    synchronous: str = "NORMAL"
    shared: bool = False


def connected(path: str, mode: str, patience: float) -> Connection:
    """A connection to the file at an absolute path, opened as `mode` says. Raises what `sqlite.EXCEPTIONS` lists."""
    import sqlite3

    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # https://www.sqlite.org/uri.html, 3.1
    address = f"file:{'//' if name.startswith('/') else ''}{name}?mode={mode}"
    return sqlite3.connect(address, patience, isolation_level=None, check_same_thread=False, uri=True)


def make_private(path: str) -> None:
    """Take a database from everybody but its owner; its log gets the same permissions from SQLite. Never raises."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):
            status = os.lstat(name)
            if stat.S_ISREG(status.st_mode) and status.st_mode & 0o077:
                os.chmod(name, stat.S_IMODE(status.st_mode) & 0o700)  # noqa: PTH101 - pathlib is slow to import


def is_ready(connection: Connection, tables: Tables) -> bool:
    """Whether the file has these tables. Raises what `sqlite.EXCEPTIONS` lists.

    Views and triggers are damage: none is ours, and those of a stranger's file would run with every question, without end.
    """
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    if form != tables.form:
        return False
    if connection.execute(_FOREIGN).fetchone() is not None:
        import sqlite3

        raise sqlite3.DatabaseError("the file has views or triggers that nobody here made")
    return True


def make_ready(connection: Connection, tables: Tables, patience: float) -> None:
    """Make the tables where nothing is, waiting `patience` seconds for others who do.

    Raises what `sqlite.EXCEPTIONS` lists, for a file with other tables, too.
    """
    if not is_ready(connection, tables):
        _keep_log(connection, patience)
        whole(connection, lambda each: _make(each, tables))
    connection.execute(f"PRAGMA synchronous = {tables.synchronous}")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")


def whole(connection: Connection, action: Callable[[Connection], _T]) -> _T:
    """What `action` gives, all of its writes done at once, or none."""
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
    """Whether only a new file helps: it is no database, is torn, or has other tables. All else passes by itself."""
    from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of

    return trouble_of(error) in (Trouble.DAMAGED, Trouble.FOREIGN)


def is_about_file(error: Exception) -> bool:
    """Whether another look would fail just as well: not where only the values of this one were wrong."""
    from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of

    return trouble_of(error) not in (Trouble.TOO_MUCH, Trouble.MISUSED)


def is_unopened(error: Exception) -> bool:
    """Whether the file is there, but may not be opened like that, as on a read-only disk."""
    from citekit.adapters.libraries.sqlite.errors import Trouble, trouble_of

    return trouble_of(error) in (Trouble.UNREACHABLE, Trouble.READ_ONLY)


def _keep_log(connection: Connection, patience: float) -> None:
    """Keep a write-ahead log from now on. SQLite itself does not wait for others who are about to do the same."""
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
        return  # another process was quicker
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    if form or connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
        raise sqlite3.DatabaseError("the file has tables that nobody here made")
    for statement in tables.statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {tables.form}")
