"""Connects to PostgreSQL. `psycopg` is imported on first use.

Passwords come only from where libpq expects them (`PGPASSWORD`, `PGPASSFILE`, `~/.pgpass`, a service file). They are
neither stored nor shown.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from citekit.domain.errors import DriverMissing

if TYPE_CHECKING:
    from psycopg import Connection

CONNECT_SECONDS = 5
"""The maximum time to connect."""


def package() -> Any:
    """Import the client library. Raise `DriverMissing` if it is not installed."""
    try:
        return importlib.import_module("psycopg")
    except ImportError as error:
        raise DriverMissing("Using PostgreSQL", "scale") from error


def transaction(url: str) -> AbstractContextManager[Connection]:
    """Return a connection that commits at the end of a `with` block, or rolls back if the block raises, and closes."""
    connection: AbstractContextManager[Connection] = package().connect(url, connect_timeout=CONNECT_SECONDS)
    return connection


def message(error: BaseException) -> str:
    """Return the last line of the message of `error`, which has the reason. It contains no password."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip().rstrip(".")[:200]
