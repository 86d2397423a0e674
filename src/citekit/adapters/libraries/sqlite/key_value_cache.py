"""Caches values by key in a SQLite table, which processes can share and anyone can delete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from citekit.adapters.libraries.sqlite.cache_file import PATIENCE, SqliteFile
from citekit.adapters.libraries.sqlite.database import Tables
from citekit.adapters.system.home_seal import CODE_SIZE, HomeSeal, unhex

if TYPE_CHECKING:
    from sqlite3 import Connection

DATABASE = "cache.db"

LIMIT = 2**30
"""Maximum size of the table in bytes. Above it, every write of values evicts the oldest rows."""

CULLED = 10
"""Number of rows evicted per row written when the table is above its limit."""

_TABLES = Tables(
    0x434B4931, ("CREATE TABLE Cache (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value NOT NULL)",)
)
_GET = "SELECT value FROM Cache WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO Cache (key, value) VALUES (?, ?)"
_ADD = "INSERT INTO Cache (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = value + excluded.value"
_KEYS = "SELECT key FROM Cache WHERE key >= ? AND key < ? ORDER BY key LIMIT 1000"
_CULL = "DELETE FROM Cache WHERE number IN (SELECT number FROM Cache ORDER BY number LIMIT ?)"
_LAST = "\U0010ffff"
_NAME = b"index"


class Index:
    """A cache on disk of results that can be computed again. No method raises database errors.

    On failure, a row counts as missing. Like those of `SqliteFile`, the methods raise `HomeUnsafe` if the path is
    unsafe. The rows with the lowest `number` are the oldest. Values start with an authentication code (hexadecimal),
    made with the secret key of this home; rows without a valid one count as missing. Counters have no code.
    """

    def __init__(self, folder: str | os.PathLike[str], *, patience: float = PATIENCE) -> None:
        """Open the cache in `folder`, which is created on the first write.

        `patience` is the number of seconds a write waits for other writers.
        """
        self._folder = folder
        self._patience = patience
        self.seal = HomeSeal(folder)
        self._database = self.beside(DATABASE, _TABLES)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the value cached under `key`; None if it is missing."""
        row = self._database.read(lambda connection: connection.execute(_GET, (key,)).fetchone())
        return self._opened(key, row[0]) if row is not None else None

    def put(self, key: str, value: Mapping[str, Any]) -> bool:
        """Cache `value`, which must contain only JSON types. Return whether it was cached."""
        return self.put_all([(key, value)])

    def put_all(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> bool:
        """Cache all `rows`, pairs of a key and a value, in one transaction. Return whether they were cached."""
        written = [(key, self._sealed(key, json.dumps(dict(value), separators=(",", ":")))) for key, value in rows]

        def put(connection: Connection) -> bool:
            connection.executemany(_PUT, written)
            if _is_full(connection):
                connection.execute(_CULL, (CULLED * len(written),))
            return True

        return bool(self._database.write(put))

    def _sealed(self, key: str, text: str) -> str:
        return self.seal.code(_NAME, _bytes(key), _bytes(text)).hex() + text

    def _opened(self, key: str, value: object) -> dict[str, Any] | None:
        if not isinstance(value, str):
            return None
        code, text = value[: 2 * CODE_SIZE], value[2 * CODE_SIZE :]
        if not self.seal.holds(unhex(code), _NAME, _bytes(key), _bytes(text)):
            return None
        return _object(text)

    def forget(self, key: str) -> None:
        """Remove the value cached under `key`."""
        self._database.write(
            lambda connection: connection.execute("DELETE FROM Cache WHERE key = ?", (key,)), create=False
        )

    def add(self, key: str, amount: int) -> int | None:
        """Add `amount` to the counter `key` and return its new value; None if it cannot be stored.

        The addition is atomic across processes.
        """

        def added(connection: Connection) -> Any:
            connection.execute(_ADD, (key, amount))
            return connection.execute(_GET, (key,)).fetchone()

        row = self._database.write(added)
        return row[0] if row is not None and isinstance(row[0], int) else None

    def reset(self, key: str, total: int) -> None:
        """Set the counter `key` to `total`."""
        self._database.write(lambda connection: connection.execute(_PUT, (key, total)))

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that start with `prefix`, in order; changes during the iteration may be missed."""
        start = prefix
        while found := self._database.read(lambda each, start=start: _texts(each, start, prefix + _LAST)):  # type: ignore[misc]
            yield from found
            start = found[-1] + "\0"

    def beside(self, name: str, tables: Tables) -> SqliteFile:
        """Return another database called `name` in the same folder, with its own tables."""
        return SqliteFile(os.path.join(self._folder, name), tables, patience=self._patience)  # noqa: PTH118

    def close(self) -> None:
        """Close the file. The next access reopens it."""
        self._database.close()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _texts(connection: Connection, start: str, end: str) -> list[str]:
    return [key for (key,) in connection.execute(_KEYS, (start, end)) if isinstance(key, str)]


def _is_full(connection: Connection) -> bool:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return bool((pages - free) * size > LIMIT)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
