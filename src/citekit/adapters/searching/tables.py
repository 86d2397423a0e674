"""What the words of a library are kept in, beside the nodes: the form of the terms, and what follows from it."""

from __future__ import annotations

import sqlite3

from citekit.adapters.searching.shelving import INDEXED

_LATEST = "SELECT 1 FROM sqlite_master WHERE name = 'look'"
"""The table that is made last."""

_STATEMENTS = (
    *(f"DELETE FROM {table}" for table in ("map", "node", "word")),  # noqa: S608 - names of our own
    "DROP TABLE IF EXISTS term",
    "DROP TABLE IF EXISTS beginning",
    "CREATE VIRTUAL TABLE term USING fts5 (terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii',"
    f" prefix = '{' '.join(str(letters + 1) for letters in range(1, INDEXED + 1))}')",
    "CREATE TABLE beginning (letters TEXT PRIMARY KEY, words INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE look (made TEXT NOT NULL, state TEXT, at REAL NOT NULL, maps INTEGER NOT NULL)",
    "INSERT INTO look VALUES (lower(hex(randomblob(16))), NULL, 0, 0)",
)


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of terms where they are missing or of an older form; whatever was indexed then is indexed anew."""
    if connection.execute(_LATEST).fetchone() is None:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute(_LATEST).fetchone() is None:
            for statement in _STATEMENTS:
                connection.execute(statement)
        connection.execute("COMMIT")
