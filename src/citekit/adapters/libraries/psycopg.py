"""Connects to PostgreSQL. `psycopg` is imported on first use.

Passwords come from where libpq expects them (`PGPASSWORD`, `PGPASSFILE`, `~/.pgpass`, a service file), and are not
stored.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from citekit.domain.errors import DriverMissing

if TYPE_CHECKING:
    from psycopg import Connection

CONNECT_SECONDS = 5
"""The maximum time to connect, in seconds."""


def package() -> Any:
    """Import and return the client library. Raise `DriverMissing` if it is not installed."""
    try:
        return importlib.import_module("psycopg")
    except ImportError as error:
        raise DriverMissing("Using PostgreSQL", "scale") from error


def connect(url: str) -> Connection:
    """Return a new connection, whose transactions the caller commits.

    Statements are not prepared, so that their plans suit their values, and proxies such as PgBouncer work. Raise
    `DriverMissing` if psycopg is not installed, or an error of psycopg.
    """
    connection: Connection = package().connect(
        url, connect_timeout=CONNECT_SECONDS, prepare_threshold=None, client_encoding="utf8"
    )
    return connection


def message(error: BaseException) -> str:
    """Return why the request failed, in one line of at most 200 characters."""
    diagnosis = getattr(error, "diag", None)
    lines = str(getattr(diagnosis, "message_primary", None) or error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip().rstrip(".")[:200]
