"""A table from text to text in one SQLite file, for what can be read again from elsewhere.

Imports next to nothing before it is used, and then only the standard library: programs that must start fast read it.
Every row carries a code under the seal of this home, so that one that is damaged, or came from elsewhere, counts as missing
instead of being believed.
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
"""Seconds that one look or write waits for another program that holds the table."""

_TABLES = Tables(
    0x434B5231, ("CREATE TABLE rows (key TEXT PRIMARY KEY, text TEXT, mark INTEGER) WITHOUT ROWID",), synchronous="OFF"
)
_GET = "SELECT key, text, mark FROM rows WHERE key = ?"
_ALL = "SELECT key, text, mark FROM rows"
_PUT = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
KNOWN = 50_000
"""Rows that are known to be right without computing their codes."""

_NAME = b"rows"
_DROP = "DELETE FROM rows WHERE key = ?"


class SqliteRows:
    """The rows of the database at `path`. No method raises: what fails counts as missing.

    Several threads and processes may use it at once.
    """

    def __init__(self, path: str) -> None:
        """The folder and the database are made at the first `put`."""
        self._file = SqliteFile(path, _TABLES, patience=PATIENCE)
        self._seal = HomeSeal(os.path.dirname(path))  # noqa: PTH120 - pathlib is slow to import
        self._known: dict[bytes, tuple[bytes, object]] = {}

    def get(self, key: str) -> str | None:
        """The text under `key`."""
        return self._read(_GET, (key,)).get(key) if _is_unicode(key) else None

    def all(self) -> dict[str, str]:
        """Every sound row."""
        return self._read(_ALL, ())

    def put(self, rows: Mapping[str, str]) -> bool:
        """Remember the rows, all of them or none; whether they were remembered. What is no Unicode is not."""
        if not all(_is_unicode(key) and _is_unicode(text) for key, text in rows.items()):
            return False
        marked = [(key, text, self._seal.code(_NAME, key.encode(), text.encode())) for key, text in rows.items()]
        return not marked or self._file.write(lambda each: each.executemany(_PUT, marked)) is not None

    def drop(self, keys: Iterable[str]) -> None:
        """Forget those rows."""
        gone = [(key,) for key in keys if _is_unicode(key)]
        if gone:
            self._file.write(lambda each: each.executemany(_DROP, gone), create=False)

    def close(self) -> None:
        """Close the file; the next access opens it again."""
        self._file.close()

    def _read(self, query: str, values: tuple[str, ...]) -> dict[str, str]:
        def fetched(connection: Connection) -> list[tuple[object, object, object]]:
            connection.text_factory = bytes  # what is damaged may be no Unicode
            return connection.execute(query, values).fetchall()

        return self._sound(self._file.read(fetched) or ())

    def _sound(self, found: Iterable[tuple[object, object, object]]) -> dict[str, str]:
        """The rows whose code is right, as text."""
        rows = {}
        for key, text, code in found:
            if isinstance(key, bytes) and isinstance(text, bytes) and self._is_ours(key, text, code):
                rows[key.decode("utf-8", "replace")] = text.decode("utf-8", "replace")
        return rows

    def _is_ours(self, key: bytes, text: bytes, code: object) -> bool:
        """Whether the code is right; that of a row that looks as it did is not computed again."""
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
