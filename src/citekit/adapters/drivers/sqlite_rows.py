"""A table from text to text in one SQLite file, for what can be read again from elsewhere.

Imports next to nothing before it is used, and then only the standard library: programs that must start fast read it.
Every row carries a checksum (CRC-32) of itself, so that a damaged one counts as missing instead of being believed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import sqlite3

PATIENCE = 0.2
"""Seconds that one look or write waits for another program that holds the table."""

PAUSE = 5.0
"""Seconds until a table that could not be read, or written, is tried again."""

_TABLE = "CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, text TEXT, mark INTEGER) WITHOUT ROWID"
_T = TypeVar("_T")


class _Opened(NamedTuple):
    """The open database, and which file it was opened on."""

    identity: tuple[int, int]
    connection: sqlite3.Connection


class SqliteRows:
    """The rows of the database at `path`, which has a folder of its own. No method raises: what fails counts as missing.

    Several threads and processes may use it at once. A file that was deleted or replaced is opened anew, and a damaged
    one is set aside with its folder.
    """

    def __init__(self, path: str) -> None:
        """The folder and the database are made at the first `put`."""
        self._path = path
        self._opened: _Opened | None = None
        self._lock = threading.Lock()
        self._read_again = 0.0
        self._write_again = 0.0

    def get(self, key: str) -> str | None:
        """The text under `key`."""
        return (
            self._read("SELECT key, text, mark FROM rows WHERE key = ?", (key,)).get(key) if _is_unicode(key) else None
        )

    def all(self) -> dict[str, str]:
        """Every sound row."""
        return self._read("SELECT key, text, mark FROM rows", ())

    def put(self, rows: Mapping[str, str]) -> bool:
        """Remember the rows, all of them or none; whether they were remembered. What is no Unicode is not."""
        if not all(_is_unicode(key) and _is_unicode(text) for key, text in rows.items()):
            return False
        marked = [(key, text, _mark(key.encode(), text.encode())) for key, text in rows.items()]
        return self._write("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", marked)

    def drop(self, keys: Iterable[str]) -> None:
        """Forget those rows."""
        self._write("DELETE FROM rows WHERE key = ?", [(key,) for key in keys if _is_unicode(key)], create=False)

    def close(self) -> None:
        """Close the file; the next look opens it again."""
        with self._lock:
            self._close()

    def _read(self, query: str, values: tuple[str, ...]) -> dict[str, str]:
        if time.monotonic() < self._read_again:
            return {}
        found = self._attempt(lambda connection: connection.execute(query, values).fetchall(), create=False)
        return _sound(found or ())

    def _write(self, statement: str, rows: Sequence[tuple[str | int, ...]], create: bool = True) -> bool:
        def write(connection: sqlite3.Connection) -> bool:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(statement, rows)
            return True

        if not rows or time.monotonic() < self._write_again:
            return not rows
        return self._attempt(write, create=create) or False

    def _attempt(self, action: Callable[[sqlite3.Connection], _T], *, create: bool) -> _T | None:
        """What `action` gives; None where there is no database, or it failed. A damaged database is made anew once."""
        with self._lock:
            for _ in range(2):
                try:
                    connection = self._current(create)
                    return None if connection is None else action(connection)
                except Exception as error:
                    if not _is_ours(error):
                        raise
                    if not (_is_damage(error) and self._set_aside()):
                        self._rest(create)
                        return None
            return None

    def _rest(self, writing: bool) -> None:
        self._close()
        self._write_again = time.monotonic() + PAUSE
        if not writing:
            self._read_again = self._write_again

    def _current(self, create: bool) -> sqlite3.Connection | None:
        """The open database: opened again where its file was deleted or replaced; None where there is none."""
        identity = _identity(self._path)
        if self._opened is not None and self._opened.identity == identity:
            return self._opened.connection
        self._close()
        if identity is None and not create:
            return None
        if create:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - pathlib is slow to import
        connection = _connected(self._path, create)
        identity = _identity(self._path)
        if identity is not None and connection is not None:
            self._opened = _Opened(identity, connection)
        return connection

    def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            with suppress(Exception):
                opened.connection.close()

    def _set_aside(self) -> bool:
        """Move the folder of the damaged database away; whether that could be done, or somebody else did it."""
        damaged = self._opened.identity if self._opened is not None else _identity(self._path)
        self._close()
        if damaged != _identity(self._path):
            return True
        folder = os.path.dirname(self._path)  # noqa: PTH120
        aside = f"{folder}.damaged"
        import shutil

        shutil.rmtree(aside, ignore_errors=True)
        try:
            os.rename(folder, aside)  # noqa: PTH104
        except OSError:
            return False
        return True


def _is_ours(error: Exception) -> bool:
    """Whether `error` is one that the database, or the disk, raises."""
    from citekit.adapters.drivers.sqlite import EXCEPTIONS

    return isinstance(error, (OSError, *EXCEPTIONS))


def _is_damage(error: Exception) -> bool:
    from citekit.adapters.drivers.sqlite import Trouble, trouble_of

    return not isinstance(error, OSError) and trouble_of(error) in (Trouble.DAMAGED, Trouble.FOREIGN)


def _connected(path: str, create: bool) -> sqlite3.Connection | None:
    """The database open for writing, else only for reading. Raises what `sqlite.EXCEPTIONS` lists.

    None where another process is about to make its table.
    """
    import sqlite3

    connection = _open(path, "rwc" if create else "rw")
    try:
        connection.execute("PRAGMA synchronous = OFF")  # a power cut may damage it: then it is made anew
        if create:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_TABLE)
        if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            connection.close()
            return None
        connection.execute("SELECT key, text, mark FROM rows LIMIT 1").fetchone()
        return connection
    except sqlite3.OperationalError as error:
        connection.close()
        unwritable = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
        if create or getattr(error, "sqlite_errorcode", 0) & 0xFF not in unwritable:
            raise
        return _open(path, "ro&immutable=1")
    except sqlite3.Error:
        connection.close()
        raise


def _open(path: str, mode: str) -> sqlite3.Connection:
    import sqlite3

    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # noqa: PTH100
    address = f"file:{quoted}?mode={mode}"  # https://www.sqlite.org/uri.html: nothing else has a meaning there
    connection = sqlite3.connect(address, PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    connection.text_factory = bytes
    return connection


def _sound(found: Iterable[tuple[object, object, object]]) -> dict[str, str]:
    """The rows whose checksum is right, as text."""
    rows = {}
    for key, text, mark in found:
        if isinstance(key, bytes) and isinstance(text, bytes) and mark == _mark(key, text):
            rows[key.decode("utf-8", "replace")] = text.decode("utf-8", "replace")
    return rows


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mark(key: bytes, text: bytes) -> int:
    import zlib

    return zlib.crc32(text, zlib.crc32(key))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino
