"""A database of things that can be computed again: shared by processes, deleted by anybody, mended by being made anew.

Plain SQLite with a write-ahead log: readers never wait, one writer at a time, and no waiting for the disk but at
checkpoints (`synchronous = NORMAL`): a power cut may undo the last writes, and leaves a whole database.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from attrs import frozen

from citekit.adapters.drivers.filelock import Locks
from citekit.domain.errors import HomeUnwritable

if TYPE_CHECKING:
    from sqlite3 import Connection

PAUSE = 5.0
"""Seconds until a database that could not be opened for writing, or mended, is tried again."""

CACHE = 8 * 1024
"""KiB of pages that each connection keeps in memory."""

_T = TypeVar("_T")
_Identity = tuple[int, int] | None
_STRAY = (OSError, ValueError, TypeError, OverflowError)
"""What the system raises, and what SQLite's module raises for values that it cannot hold."""


@frozen
class Tables:
    """The statements that make the tables, and a number that no other form of them has had (`user_version`)."""

    form: int
    statements: Sequence[str]


@frozen
class _Opened:
    """A connection, which file it was opened on, and by which process. It is None where the file can only be read."""

    identity: _Identity
    process: int
    connection: Connection | None


class Database:
    """No method raises: what fails counts as not remembered. Each thread has a connection of its own."""

    def __init__(self, path: Path, tables: Tables, *, patience: float = 60.0) -> None:
        """The folder of `path` is made at the first write; `patience` is how many seconds one waits for another writer."""
        self.path = path
        self._name = str(path)
        self._tables = tables
        self._patience = patience
        self._local = threading.local()
        self._opening = threading.Lock()
        self._try_again = 0.0

    def read(self, action: Callable[[Connection], _T]) -> _T | None:
        """What `action` gives; None where there is no database, or it failed."""
        return self._attempt(action, create=False)

    def write(self, action: Callable[[Connection], _T], *, create: bool = True) -> _T | None:
        """What `action`, all of it or nothing, gives; None where nothing was written."""
        return self._attempt(lambda connection: _whole(connection, action), create=create, writing=True)

    def close(self) -> None:
        """Close the connection of this thread; the next look opens it again."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        self._local.opened = None
        if opened is not None and opened.connection is not None and opened.process == os.getpid():
            opened.connection.close()

    def _attempt(self, action: Callable[[Connection], _T], *, create: bool, writing: bool = False) -> _T | None:
        from citekit.adapters.drivers.sqlite import EXCEPTIONS

        for _ in range(2):
            try:
                opened = self._current(create)
                if opened is not None and opened.connection is not None:
                    return action(opened.connection)
                return None if opened is None or writing else self._read_only(action)
            except (*EXCEPTIONS, *_STRAY) as error:
                if not is_damage(error):
                    return None
                self._set_aside()
        return None

    def _current(self, create: bool) -> _Opened | None:
        """This thread's connection; a new one where somebody deleted or replaced the file; None where there is none."""
        identity = _identity(self._name)
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is not None and opened.identity == identity is not None and self._is_settled(opened):
            return opened
        if identity is None and not create:
            return None
        self.close()
        with self._opening:
            self._local.opened = opened = self._open()
        return opened

    def _is_settled(self, opened: _Opened) -> bool:
        return opened.process == os.getpid() and (opened.connection is not None or time.monotonic() < self._try_again)

    def _open(self) -> _Opened | None:
        from citekit.adapters.drivers.sqlite import EXCEPTIONS

        if time.monotonic() >= self._try_again:
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                connection = connected(self._name, self._tables, self._patience)
                return _Opened(_identity(self._name), os.getpid(), connection)
            except (*EXCEPTIONS, *_STRAY) as error:
                if is_damage(error):
                    raise
                self._try_again = time.monotonic() + PAUSE
        identity = _identity(self._name)
        return _Opened(identity, os.getpid(), None) if identity is not None else None

    def _read_only(self, action: Callable[[Connection], _T]) -> _T | None:
        """On a read-only disk, or in somebody else's folder. Opened for one look: such a connection sees no changes."""
        import sqlite3

        for mode in ("mode=ro", "mode=ro&immutable=1"):
            uri = f"file:{quote(self._name)}?{mode}"
            with suppress(sqlite3.OperationalError), closing(sqlite3.connect(uri, uri=True)) as connection:
                return action(connection)
        return None

    def _set_aside(self) -> None:
        """Move the damaged database into a folder beside its own, unless another process already has."""
        self.close()
        folder = self.path.parent
        with suppress(OSError, HomeUnwritable), Locks(folder.parent).hold(f".{folder.name}.lock"):
            if is_sound(self._name, self._tables):
                return
            aside = folder.with_name(f"{folder.name}.damaged")
            aside.mkdir(mode=0o700, exist_ok=True)
            for log in ("-wal", "-shm"):  # before the database itself: a new one beside an old log would take it in
                with suppress(FileNotFoundError):
                    Path(self._name + log).unlink()
            shutil.move(self._name, aside / self.path.name)
            return
        self._try_again = time.monotonic() + PAUSE


def connected(name: str, tables: Tables, patience: float) -> Connection:
    """A connection to the database, with its tables, made where nothing is. Raises the exceptions of SQLite."""
    import sqlite3

    connection = sqlite3.connect(name, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        if _form(connection) != tables.form:
            _make(connection, tables)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: Connection, tables: Tables) -> None:
    import sqlite3

    def make(connection: Connection) -> None:
        if _form(connection) == tables.form:
            return
        if _form(connection) or connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            raise sqlite3.DatabaseError("the index has tables that nobody here made")
        for statement in tables.statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {tables.form}")

    connection.execute("PRAGMA journal_mode = WAL")
    _whole(connection, make)


def _whole(connection: Connection, action: Callable[[Connection], _T]) -> _T:
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


def _form(connection: Connection) -> int:
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    return int(form)


def is_sound(name: str, tables: Tables) -> bool:
    """Whether the database is one, of the right form, and whole."""
    import sqlite3

    try:
        with closing(sqlite3.connect(name, timeout=5)) as connection:
            made = {text for (text,) in connection.execute("SELECT sql FROM sqlite_master")}
            whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            return whole and _form(connection) == tables.form and made.issuperset(tables.statements)
    except sqlite3.Error:
        return False


def is_damage(error: Exception) -> bool:
    """Whether only a new database helps: the file is none, is torn, or has other tables. All else passes by itself."""
    from citekit.adapters.drivers.sqlite import EXCEPTIONS, Trouble, trouble_of

    return isinstance(error, EXCEPTIONS) and trouble_of(error) in (Trouble.DAMAGED, Trouble.FOREIGN)


def _identity(name: str) -> _Identity:
    try:
        status = os.stat(name)  # noqa: PTH116 (at every look: a path as text is looked at faster)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
