"""Stores texts by key in one SQLite file, for data that can be obtained again from its original source.

Modules are imported on first use, for programs that must start fast. Rows without a valid authentication code, made
with the secret key of this home, count as missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from citekit.adapters.libraries.sqlite.cache_file import SqliteFile
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.system.home_seal import HomeSeal

if TYPE_CHECKING:
    from sqlite3 import Connection

PATIENCE = 0.2
"""Seconds that a read or write waits for another program that locks the table."""

_TABLES = Tables(
    0x434B5231, ("CREATE TABLE rows (key TEXT PRIMARY KEY, text TEXT, mark INTEGER) WITHOUT ROWID",), synchronous="OFF"
)
_GET = "SELECT key, text, mark FROM rows WHERE key = ?"
_ALL = "SELECT key, text, mark FROM rows"
_PUT = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
KNOWN = 50_000
"""Maximum number of rows whose codes are known to be valid and are not computed again."""

_NAME = b"rows"
_DROP = "DELETE FROM rows WHERE key = ?"


class SqliteRows:
    """The texts in the database at `path`, by key. No method raises database errors: on failure, rows count as missing.

    Like those of `SqliteFile`, the methods raise `HomeUnsafe` if the path is unsafe.
    """

    def __init__(self, path: str) -> None:
        """Open the table at `path`. The folder and the file are created by the first `put`."""
        self._file = SqliteFile(path, _TABLES, patience=PATIENCE)
        self._seal = HomeSeal(os.path.dirname(path))  # noqa: PTH120 - pathlib is slow to import
        self._known: dict[bytes, tuple[bytes, object]] = {}

    def get(self, key: str) -> str | None:
        """Return the text stored under `key`; None if it is missing."""
        return self._read(_GET, (key,)).get(key) if _is_unicode(key) else None

    def all(self) -> dict[str, str]:
        """Return the keys and texts of all valid rows."""
        return self._read(_ALL, ())

    def put(self, rows: Mapping[str, str]) -> bool:
        """Store all `rows` (texts by key) in one transaction, unless one is not valid Unicode. Return whether they were
        stored.
        """
        if not all(_is_unicode(key) and _is_unicode(text) for key, text in rows.items()):
            return False
        marked = [(key, text, self._seal.code(_NAME, key.encode(), text.encode())) for key, text in rows.items()]
        return not marked or self._file.write(lambda each: each.executemany(_PUT, marked)) is not None

    def drop(self, keys: Iterable[str]) -> None:
        """Remove the texts stored under `keys`."""
        gone = [(key,) for key in keys if _is_unicode(key)]
        if gone:
            self._file.write(lambda each: each.executemany(_DROP, gone), create=False)

    def close(self) -> None:
        """Close the file. The next access reopens it."""
        self._file.close()

    def _read(self, query: str, values: tuple[str, ...]) -> dict[str, str]:
        def fetched(connection: Connection) -> list[tuple[object, object, object]]:
            connection.text_factory = bytes  # damaged text may not be valid UTF-8
            return connection.execute(query, values).fetchall()

        return self._sound(self._file.read(fetched) or ())

    def _sound(self, found: Iterable[tuple[object, object, object]]) -> dict[str, str]:
        """Return the rows among `found` (key, text, authentication code) whose code is valid, decoded to `str`."""
        rows = {}
        for key, text, code in found:
            if isinstance(key, bytes) and isinstance(text, bytes) and self._is_ours(key, text, code):
                rows[key.decode("utf-8", "replace")] = text.decode("utf-8", "replace")
        return rows

    def _is_ours(self, key: bytes, text: bytes, code: object) -> bool:
        """Return whether `code` is the authentication code of the row, which is computed once."""
        if self._known.get(key) == (text, code):
            return True
        if not self._seal.holds(code, _NAME, key, text):
            return False
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[key] = (text, code)
        return True


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
