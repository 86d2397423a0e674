"""The columns that a user added to a Calibre library."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from citekit.adapters.library.calibre_values import moment, number, stars

_COLUMNS = (
    "SELECT id, label, datatype, is_multiple, normalized FROM custom_columns WHERE NOT mark_for_delete ORDER BY id"
)
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%custom_column%'"


def custom_columns(connection: sqlite3.Connection, wanted: str) -> dict[int, dict[str, Any]]:
    """For each of the `wanted` books (a JSON array of ids), its values by the labels of the columns, as plain data.

    Several values are a list; a date is ISO 8601 text with its zone; a series adds its index under the label and `_index`.
    What Calibre computes (composite columns) is not stored, and so not here.
    """
    found: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for column in _columns(connection):
        for book, value, index in connection.execute(column.question, (wanted,)):
            column.put(found[book], value, index)
    return found


@frozen
class _Column:
    number: int
    label: str
    datatype: str
    several: bool
    linked: bool

    @property
    def tables(self) -> set[str]:
        own = f"custom_column_{self.number}"
        return {own, f"books_{own}_link"} if self.linked else {own}

    @property
    def question(self) -> str:
        table, books = f"custom_column_{self.number}", "(SELECT value FROM json_each(?))"
        if not self.linked:
            return f"SELECT book, value, NULL FROM {table} WHERE book IN {books} ORDER BY id"  # noqa: S608 - a number
        index = "link.extra" if self.datatype == "series" else "NULL"
        return (
            f"SELECT link.book, named.value, {index} FROM books_{table}_link AS link"  # noqa: S608 - a number
            f" JOIN {table} AS named ON named.id = link.value WHERE link.book IN {books} ORDER BY link.id"
        )

    def put(self, values: dict[str, Any], stored: object, index: object) -> None:
        value = _READ.get(self.datatype, str)(stored) if stored is not None else None
        if value is None:
            return
        if self.several:
            values.setdefault(self.label, []).append(value)
        else:
            values[self.label] = value
        if self.datatype == "series":
            values[f"{self.label}_index"] = number(index)


def _columns(connection: sqlite3.Connection) -> Iterator[_Column]:
    there = {name for (name,) in connection.execute(_TABLES)}
    for row, label, datatype, several, linked in connection.execute(_COLUMNS).fetchall():
        column = _Column(int(row), str(label), str(datatype), bool(several), bool(linked))
        if column.datatype != "composite" and column.tables <= there:
            yield column


def _whole(value: object) -> int | None:
    read = number(value)
    return None if read is None else int(read)


def _time(value: object) -> str | None:
    read = moment(value)
    return None if read is None else read.isoformat()


_READ: dict[str, Callable[[object], Any]] = {
    "bool": bool,
    "int": _whole,
    "float": number,
    "rating": stars,
    "datetime": _time,
}
"""How the values of a kind are read; the other kinds are text."""
