"""Classifies the exceptions and the result codes of SQLite."""

from __future__ import annotations

import sqlite3
from enum import Enum


class Trouble(Enum):
    """The kinds of database failures."""

    BUSY = "it is locked by another program"
    DAMAGED = "its file is damaged"
    FOREIGN = "it has unexpected tables"
    FULL = "the disk is full"
    READ_ONLY = "it cannot be written to"
    UNREACHABLE = "its file cannot be opened"
    FAILED = "the disk or the system reports an error"
    TOO_MUCH = "it exceeds a size or time limit"
    MISUSED = "the driver was used incorrectly"


_CODES = {
    sqlite3.SQLITE_ERROR: Trouble.FOREIGN,
    sqlite3.SQLITE_INTERNAL: Trouble.MISUSED,
    sqlite3.SQLITE_PERM: Trouble.READ_ONLY,
    sqlite3.SQLITE_ABORT: Trouble.FAILED,
    sqlite3.SQLITE_BUSY: Trouble.BUSY,
    sqlite3.SQLITE_LOCKED: Trouble.BUSY,
    sqlite3.SQLITE_NOMEM: Trouble.FAILED,
    sqlite3.SQLITE_READONLY: Trouble.READ_ONLY,
    sqlite3.SQLITE_INTERRUPT: Trouble.TOO_MUCH,
    sqlite3.SQLITE_IOERR: Trouble.FAILED,
    sqlite3.SQLITE_CORRUPT: Trouble.DAMAGED,
    sqlite3.SQLITE_NOTFOUND: Trouble.FAILED,
    sqlite3.SQLITE_FULL: Trouble.FULL,
    sqlite3.SQLITE_CANTOPEN: Trouble.UNREACHABLE,
    sqlite3.SQLITE_PROTOCOL: Trouble.BUSY,
    sqlite3.SQLITE_EMPTY: Trouble.DAMAGED,
    sqlite3.SQLITE_SCHEMA: Trouble.BUSY,
    sqlite3.SQLITE_TOOBIG: Trouble.TOO_MUCH,
    sqlite3.SQLITE_CONSTRAINT: Trouble.DAMAGED,
    sqlite3.SQLITE_MISMATCH: Trouble.FOREIGN,
    sqlite3.SQLITE_MISUSE: Trouble.MISUSED,
    sqlite3.SQLITE_NOLFS: Trouble.FAILED,
    sqlite3.SQLITE_AUTH: Trouble.UNREACHABLE,
    sqlite3.SQLITE_FORMAT: Trouble.DAMAGED,
    sqlite3.SQLITE_RANGE: Trouble.MISUSED,
    sqlite3.SQLITE_NOTADB: Trouble.DAMAGED,
}
"""The kinds of failures by primary result code (https://www.sqlite.org/rescode.html)."""

_PARTICULAR = {
    sqlite3.SQLITE_IOERR_SHORT_READ: Trouble.DAMAGED,
    sqlite3.SQLITE_IOERR_LOCK: Trouble.BUSY,
    sqlite3.SQLITE_IOERR_NOMEM: Trouble.FAILED,
}
"""The kinds of failures for extended result codes whose meaning differs from that of their primary code."""

_KINDS: dict[type[Exception], Trouble] = {
    sqlite3.NotSupportedError: Trouble.FOREIGN,
    sqlite3.OperationalError: Trouble.FAILED,
    sqlite3.ProgrammingError: Trouble.MISUSED,
    sqlite3.InterfaceError: Trouble.MISUSED,
    sqlite3.InternalError: Trouble.DAMAGED,
    sqlite3.IntegrityError: Trouble.DAMAGED,
    sqlite3.DataError: Trouble.TOO_MUCH,
    sqlite3.DatabaseError: Trouble.DAMAGED,
    sqlite3.Error: Trouble.FAILED,
    sqlite3.Warning: Trouble.MISUSED,
    UnicodeDecodeError: Trouble.DAMAGED,
}
"""The kinds of failures of exceptions without a result code. Subclasses come first."""

EXCEPTIONS = (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError)
"""The exceptions that database operations can raise."""


def trouble_of(error: Exception) -> Trouble:
    """Return the kind of failure that `error`, which is one of `EXCEPTIONS`, represents."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        return _PARTICULAR.get(code) or _CODES.get(code & 0xFF, Trouble.FAILED)
    return next(trouble for kind, trouble in _KINDS.items() if isinstance(error, kind))
