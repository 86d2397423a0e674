"""Digests of files that somebody read before, looked up in the index without making or mending it.

Imports next to nothing: a listing of maps starts as fast as a bare program with it. What is not known here, `FileSources`
tells by reading the file.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

PATIENCE = 0.2
"""Seconds that one look waits for a program that holds the index."""

_GET = "SELECT value FROM Cache WHERE key = ?"
_ROW = re.compile(r'\{"sha256":"([0-9a-f]{64})"\}')


def row_of(status: os.stat_result) -> str:
    """The name under which the digest of a file that looks like that is remembered."""
    return f"state:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


class KnownDigests:
    """The digests in the index whose database is at `path`. No method raises: what fails counts as not known."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._opened: Connection | None = None
        self._usable = True

    def get(self, status: os.stat_result) -> str | None:
        """The SHA-256, hexadecimal, of a file that looks like that; None where it is not known."""
        from citekit.adapters.drivers.sqlite import EXCEPTIONS

        try:
            connection = self._connection()
            row = connection.execute(_GET, (row_of(status),)).fetchone() if connection is not None else None
        except EXCEPTIONS:
            self._usable = False
            return None
        found = _ROW.fullmatch(row[0]) if row is not None and isinstance(row[0], str) else None
        return found and found[1]

    def close(self) -> None:
        """Let go of the index."""
        opened, self._opened = self._opened, None
        if opened is not None:
            with suppress(Exception):
                opened.close()

    def _connection(self) -> Connection | None:
        if self._opened is None and self._usable:
            self._usable = os.path.isfile(self._path)  # noqa: PTH113 - pathlib would cost a start 3 ms
            self._opened = _opened(self._path) if self._usable else None
        return self._opened if self._usable else None


def _opened(path: str) -> Connection:
    """The database open for reading. Raises what `drivers.sqlite.EXCEPTIONS` lists."""
    import sqlite3

    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # https://www.sqlite.org/uri.html, 3.1
    return sqlite3.connect(f"file:{name}?mode=ro", timeout=PATIENCE, uri=True)
