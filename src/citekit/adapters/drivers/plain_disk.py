"""diskcache without pickle: how its database is opened, what may stand in it, and what its exceptions mean.

Its own ways of storing unpickle what they find, and so run code that somebody planted (CVE-2025-69872). Ours refuses every
row that is not plain text or a whole number, never touches a file that a row names, and takes no settings from the database.
"""

from __future__ import annotations

import functools
import os
import sqlite3
from contextlib import closing, suppress
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote

_SETTINGS = {
    "disk_min_file_size": 2**30,
    "eviction_policy": "least-recently-stored",
    "size_limit": 2**30,
    "cull_limit": 10,
    "statistics": 0,
    "tag_index": 0,
}
"""No row ever becomes a file; beyond 1 GiB the oldest rows go."""


class Fate(Enum):
    """What an exception of the driver means for the index."""

    ROW = "this row counts as missing"
    BUSY = "the index is out of reach for now; everything still works, slower"
    DAMAGED = "the index is set aside and made anew"


class RowRefusedError(ValueError):
    """A row that this index would not have written."""


def open_cache(database: Path, patience: float) -> Any:
    """The cache in the folder of `database`, made where it is missing. Raises the exceptions that `fates` lists."""
    import diskcache

    folder = str(database.parent)
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.path.expandvars(folder) != folder:
        raise OSError(f"the driver would read a variable into {folder}")
    check_settings(database)
    return diskcache.Cache(folder, timeout=patience, disk=_plain_disk(), **_SETTINGS)


def read_row(database: Path, key: str) -> object:
    """The value of a row, without writing: for a database on a read-only disk, or somebody else's."""
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"file:{quote(str(database))}?{mode}", uri=True)) as connection,
        ):
            rows = connection.execute("SELECT value FROM Cache WHERE key = ? AND raw = 1 AND mode = 1", (key,))
            return next((value for (value,) in rows), None)
    return None


def check_settings(database: Path) -> None:
    """Refuse settings that the driver does not write itself: it takes each for the name of one of its own attributes."""
    import diskcache

    if not database.exists():
        return
    known = {*diskcache.core.DEFAULT_SETTINGS, *diskcache.core.METADATA}
    with closing(sqlite3.connect(database, timeout=5)) as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchone()
        names = {name for (name,) in connection.execute("SELECT key FROM Settings")} if tables else set()
    if not names <= known:
        raise sqlite3.DatabaseError("the index holds settings that nobody here wrote")


def is_sound(database: Path) -> bool:
    """Whether the database is one, of the right shape, and whole."""
    try:
        check_settings(database)
        with closing(sqlite3.connect(database, timeout=5)) as connection:
            connection.execute("SELECT key, raw, mode, filename, value FROM Cache LIMIT 1").fetchone()
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error:
        return False


@functools.cache
def _plain_disk() -> type[Any]:
    """The driver's storing part, which holds text and whole numbers inside the database and nothing else."""
    import diskcache

    class PlainDisk(diskcache.Disk):  # type: ignore[misc]
        def put(self, key: object) -> tuple[object, bool]:
            if type(key) is not str:
                raise RowRefusedError(f"a key is text, not {type(key).__name__}")
            return key, True

        def get(self, key: object, raw: object) -> object:
            if not raw or not isinstance(key, str):
                raise RowRefusedError("a key that is not plain text")
            return key

        def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, None, object]:  # noqa: ARG002
            if read or type(value) not in (str, int):
                raise RowRefusedError(f"a value is text or a whole number, not {type(value).__name__}")
            return 0, diskcache.core.MODE_RAW, None, value

        def fetch(self, mode: object, filename: object, value: object, read: object) -> object:  # noqa: ARG002
            if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, str | int):
                raise RowRefusedError("a value that is not plain text")
            return value

        def remove(self, file_path: object) -> None:
            """No row of ours has a file: whatever is named here is not ours to remove."""

    return PlainDisk


@functools.cache
def fates() -> dict[type[Exception], Fate]:
    """The exceptions of diskcache and SQLite, and of a planted row inside them, most particular first."""
    import diskcache

    return {
        RowRefusedError: Fate.ROW,
        diskcache.Timeout: Fate.BUSY,
        diskcache.UnknownFileWarning: Fate.ROW,
        diskcache.EmptyDirWarning: Fate.ROW,
        sqlite3.OperationalError: Fate.BUSY,
        sqlite3.NotSupportedError: Fate.BUSY,
        sqlite3.InterfaceError: Fate.BUSY,
        sqlite3.ProgrammingError: Fate.BUSY,
        sqlite3.DataError: Fate.ROW,
        sqlite3.InternalError: Fate.DAMAGED,
        sqlite3.IntegrityError: Fate.DAMAGED,
        sqlite3.DatabaseError: Fate.DAMAGED,
        sqlite3.Error: Fate.BUSY,
        sqlite3.Warning: Fate.BUSY,
        OSError: Fate.BUSY,
        KeyError: Fate.ROW,
        ValueError: Fate.ROW,
        TypeError: Fate.ROW,
        OverflowError: Fate.ROW,
        AttributeError: Fate.DAMAGED,
        AssertionError: Fate.DAMAGED,
    }


_BROKEN_SHAPE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH}


def fate_of(error: Exception) -> Fate:
    """What `error`, one of `fates`, means. A table that is missing or misshapen is damage, whatever SQLite calls it."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int) and code & 0xFF in _BROKEN_SHAPE:
        return Fate.DAMAGED
    return next(fate for kind, fate in fates().items() if isinstance(error, kind))
