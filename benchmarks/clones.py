"""A store of evidence made large: one piece is made by the store itself, and then multiplied in its files and its index.

Whatever tables and rows the index has about the one piece, the others get the same under names of their own; their files
are empty, for nobody asks for them.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from citekit.domain.evidence import Evidence

Row = tuple[object, ...]


def multiply(cache: Path, evidence: Evidence, count: int, start: int = 0) -> int:
    """Adds the clones number `start` to `count` of that evidence to the cache folder; returns how many rows that were."""
    assert evidence.receipt is not None
    names = evidence.receipt.key.digest.hex, evidence.receipt.evidence_digest.hex
    _files(cache / "evidence" / "objects", names[1], start, count)
    return sum(_rows(database, names, start, count) for database in sorted(cache.rglob("*.db")))


def _name(kind: int, number: int) -> str:
    return hashlib.sha256(b"%d:%d" % (kind, number)).hexdigest()


def _files(folder: Path, original: str, start: int, count: int) -> None:
    fanned = next(path for path in folder.rglob("*") if path.is_file() and original.endswith(path.name))
    parts = [len(part) for part in fanned.relative_to(folder).parts]
    for first in range(256):
        (folder / f"{first:02x}").mkdir(exist_ok=True)
    for rest in sorted(_name(1, number) for number in range(start, count)):
        path = str(folder)
        for length in parts:
            path, rest = f"{path}/{rest[:length]}", rest[length:]
        os.mknod(path, 0o100444)


def _rows(database: Path, names: tuple[str, str], start: int, count: int) -> int:
    """Clones every row that has one of the names in it; triggers and indexes are put aside meanwhile."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        aside = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql IS NOT NULL"
        ).fetchall()
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -500000")
        connection.execute("BEGIN IMMEDIATE")
        unique = [each for each in aside if each[2].upper().startswith("CREATE UNIQUE")] if start else []
        for kind, name, _ in aside:
            if not any(name == each[1] for each in unique):
                connection.execute(f"DROP {kind} {name}")
        added = sum(_table(connection, table, names, start, count) for table in _tables(connection))
        for each in aside:
            if each not in unique:
                connection.execute(each[2])
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return added


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return [name for (name,) in found.fetchall()]


def _table(connection: sqlite3.Connection, table: str, names: tuple[str, str], start: int, count: int) -> int:
    known = connection.execute(f"PRAGMA table_info({table})").fetchall()
    columns = [name for _, name, kind, _, _, key in known if not (key and kind.upper() == "INTEGER")]
    if not columns:
        return 0
    asked = ", ".join(f'"{name}"' for name in columns)
    originals = [
        row for row in connection.execute(f"SELECT {asked} FROM {table}") if any(_has(cell, names) for cell in row)
    ]
    places = ", ".join("?" * len(columns))
    command = f"INSERT OR IGNORE INTO {table} ({asked}) VALUES ({places})"
    connection.executemany(command, _cloned(originals, names, start, count))
    return len(originals) * (count - start)


def _cloned(originals: list[Row], names: tuple[str, str], start: int, count: int) -> Iterator[Row]:
    for number in range(start, count):
        mine = _name(0, number), _name(1, number)
        for row in originals:
            yield tuple(_renamed(cell, names, mine) for cell in row)


def _has(cell: object, names: tuple[str, str]) -> bool:
    if isinstance(cell, bytes):
        return any(bytes.fromhex(name) in cell for name in names)
    return isinstance(cell, str) and any(name in cell for name in names)


def _renamed(cell: object, names: tuple[str, str], mine: tuple[str, str]) -> object:
    if isinstance(cell, bytes):
        for old, new in zip(names, mine, strict=True):
            cell = cell.replace(bytes.fromhex(old), bytes.fromhex(new))
    elif isinstance(cell, str):
        for old, new in zip(names, mine, strict=True):
            cell = cell.replace(old, new)
    return cell
