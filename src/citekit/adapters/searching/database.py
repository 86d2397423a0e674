"""The database of the index: its tables, who opens it, and what becomes of one that is damaged.

It lies in a folder of its own in the cache, may be lost at any time, and is then made anew.
"""

from __future__ import annotations

import functools
import shutil
import sqlite3
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from citekit.adapters.drivers.filelock import Locks
from citekit.adapters.drivers.sqlite import EXCEPTIONS, Trouble, trouble_of
from citekit.domain.errors import HomeUnwritable

DATABASE = "nodes.db"

APPLICATION = 0x43544B4E
"""`application_id` of the file: the letters CTKN."""

VERSION = 1
"""`user_version`: the form of the tables, and of the terms in them."""

PAUSE = 5.0
"""Seconds until a database that could not be used is tried again."""

_TABLES = (
    "CREATE TABLE form (folding TEXT NOT NULL)",
    "CREATE TABLE map (resource_id TEXT PRIMARY KEY, first INTEGER NOT NULL, slots INTEGER NOT NULL,"
    " version TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE node (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL, type TEXT NOT NULL,"
    " summary TEXT, location TEXT NOT NULL, leaf INTEGER NOT NULL)",
    "CREATE INDEX map_by_first ON map (first)",
    "CREATE TABLE word (word TEXT PRIMARY KEY, nodes INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE term USING fts5 (terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii',"
    " prefix = '2 3 4')",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

_DAMAGE = (Trouble.DAMAGED, Trouble.FOREIGN)

_Identity = tuple[int, int]


class UnusableError(Exception):
    """The database cannot be used now: it is out of reach, another program holds it, or this SQLite lacks FTS5."""


class _DamagedError(Exception):
    """The database is not one of ours, or not whole."""


@functools.cache
def has_fts5() -> bool:
    """Whether this SQLite can index words (https://www.sqlite.org/fts5.html); some systems leave it out."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(
                "CREATE VIRTUAL TABLE trial USING fts5 (terms, content = '', detail = none, columnsize = 0)"
            )
        except EXCEPTIONS:
            return False
    return True


class Database:
    """Connections to the file in `folder`, used again, each by one thread at a time."""

    def __init__(self, folder: Path, patience: float) -> None:
        """`patience` is how many seconds to wait for another process that writes."""
        self._folder = folder
        self._path = folder / DATABASE
        self._patience = patience
        self._idle: list[tuple[_Identity, sqlite3.Connection]] = []
        self._lock = threading.Lock()
        self._try_again = 0.0

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file that lies there now, which is made where it is missing, and made anew where damaged.

        Raises `UnusableError`, also from what is done with the connection; a transaction that is open then is undone.
        """
        if not has_fts5() or time.monotonic() < self._try_again:
            raise UnusableError
        identity, connection = self._borrow()
        try:
            yield connection
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except EXCEPTIONS as error:
            connection.close()
            self._judge(error, identity)
        except BaseException:
            connection.close()
            raise
        else:
            with self._lock:
                self._idle.append((identity, connection))

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _borrow(self) -> tuple[_Identity, sqlite3.Connection]:
        """A connection to the file that has that name now: somebody may have deleted or replaced it."""
        identity = self._identity()
        with self._lock:
            while self._idle:
                known, connection = self._idle.pop()
                if known == identity:
                    return known, connection
                connection.close()
        for _ in range(2):
            with suppress(_DamagedError):
                return self._open()
            self._set_aside(self._identity())
        raise self._unusable()

    def _open(self) -> tuple[_Identity, sqlite3.Connection]:
        connection = None
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path, timeout=self._patience, isolation_level=None, check_same_thread=False
            )
            identity = self._identity()
            _make_ready(connection)
        except (*EXCEPTIONS, OSError, _DamagedError) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, _DamagedError):
                raise
            if not isinstance(error, OSError) and trouble_of(error) in _DAMAGE:
                raise _DamagedError from error
            raise self._unusable() from error
        if identity is None or identity != self._identity():
            connection.close()
            raise self._unusable()
        return identity, connection

    def _judge(self, error: Exception, identity: _Identity) -> None:
        """Raise what an error means; a damaged file is set aside, so that the next caller makes another."""
        if trouble_of(error) not in _DAMAGE:
            raise self._unusable() from error
        self._set_aside(identity)
        raise UnusableError from error

    def _unusable(self) -> UnusableError:
        self._try_again = time.monotonic() + PAUSE
        return UnusableError()

    def _set_aside(self, damaged: _Identity | None) -> None:
        """Move the folder away, unless another process already has: whoever has its files open keeps them."""
        self.close()
        folder = self._folder
        with suppress(OSError, HomeUnwritable), Locks(folder.parent).hold(f".{folder.name}.lock"):
            if self._identity() != damaged:
                return
            aside = folder.with_name(f"{folder.name}.damaged")
            shutil.rmtree(aside, ignore_errors=True)
            folder.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)

    def _identity(self) -> _Identity | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def _make_ready(connection: sqlite3.Connection) -> None:
    """Make the tables where nothing is. Raises `_DamagedError` where others are, or words that were folded otherwise."""
    connection.execute("PRAGMA synchronous = NORMAL")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == 0:
        connection.execute("PRAGMA journal_mode = WAL")
        _make_tables(connection)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, version) != (APPLICATION, VERSION):
        raise _DamagedError
    if connection.execute("SELECT folding FROM form").fetchone() != (unicodedata.unidata_version,):
        raise _DamagedError


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO form VALUES (?)", (unicodedata.unidata_version,))
    connection.execute("COMMIT")
