"""Manages the database file of the node search index: its tables and its connections.

The file can be deleted at any time. It is then rebuilt.
"""

from __future__ import annotations

import functools
import sqlite3
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile, UnusableError
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS
from citekit.adapters.search.node_search.index_writer import INDEXED

__all__ = ["DATABASE", "TABLES", "Database", "UnusableError", "has_fts5"]

DATABASE = "nodes.db"

VERSION = 4
"""The version of the tables, and of the terms in them."""

TABLES = Tables(
    zlib.crc32(f"CTKN {VERSION} {unicodedata.unidata_version}".encode()) & 0x7FFFFFFF,
    (
        "CREATE TABLE map (resource_id TEXT PRIMARY KEY, first INTEGER NOT NULL, slots INTEGER NOT NULL,"
        " version TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE node (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL, type TEXT NOT NULL,"
        " summary TEXT, location TEXT NOT NULL, leaf INTEGER NOT NULL, code BLOB NOT NULL)",
        "CREATE INDEX map_by_first ON map (first)",
        "CREATE TABLE word (word TEXT PRIMARY KEY, nodes INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE term USING fts5 (terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii',"
        f" prefix = '{' '.join(str(letters + 1) for letters in range(1, INDEXED + 1))}')",
        "CREATE TABLE beginning (letters TEXT PRIMARY KEY, words INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE look (made TEXT NOT NULL, state TEXT, at REAL NOT NULL, maps INTEGER NOT NULL, code BLOB)",
        "INSERT INTO look VALUES (lower(hex(randomblob(16))), NULL, 0, 0, NULL)",
    ),
)
"""The tables. They are rebuilt if the version of Unicode changes, because case folding may differ."""


@functools.cache
def has_fts5() -> bool:
    """Return whether the SQLite library has the full-text extension FTS5 (https://www.sqlite.org/fts5.html).

    Some systems omit it.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute(
                "CREATE VIRTUAL TABLE trial USING fts5 (terms, content = '', detail = none, columnsize = 0)"
            )
        except EXCEPTIONS:
            return False
    return True


class Database:
    """The connections to the database file in `folder`. A connection is used by one thread at a time."""

    def __init__(self, folder: Path, patience: float) -> None:
        """Create the pool of connections. `patience` is the number of seconds to wait for another process that writes."""
        self._file = SqliteFile(folder / DATABASE, TABLES, patience=patience)

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """See `SqliteFile.lent`. Raise `UnusableError` if the file cannot be used or this SQLite has no FTS5."""
        if not has_fts5():
            raise UnusableError
        with self._file.lent() as connection:
            yield connection

    def discard(self) -> None:
        """Delete the file. The next access creates a new one."""
        self._file.discard()

    def exists(self) -> bool:
        """Return whether the database file exists."""
        return self._file.exists()

    def close(self) -> None:
        """Close the idle connections. The next access opens a new one."""
        self._file.close()
