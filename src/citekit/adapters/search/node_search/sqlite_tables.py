"""Reads the tables of the node search index in SQLite (FTS5) for a query plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any, NamedTuple

from citekit.adapters.search.node_search.index_writer import INDEXED, readable
from citekit.adapters.search.node_search.query_plan import Condition, Lexeme

_HAVING = "SELECT rowid FROM term WHERE term MATCH ? LIMIT ?"
_ROWS = "SELECT node.* FROM json_each(?) AS each CROSS JOIN node ON node.number = each.value"
_OF_MAP = "SELECT node.* FROM map JOIN node ON number >= first AND number < first + slots WHERE resource_id = ?"
_WORDS = "SELECT word FROM word WHERE word >= ? AND word < ? LIMIT ?"
_COMMON = "SELECT sum(nodes) FROM word WHERE word >= ? AND word < ?"
_COMMON_SHORT = "SELECT words FROM beginning WHERE letters = ?"


class NodeRow(NamedTuple):
    """A row of the table of nodes, with the columns in their order in the table.

    `leaf` is 1 for a node without children. `code` is the authentication code.
    """

    number: int
    id: str
    title: str
    type: str
    summary: str | None
    location: str
    leaf: int
    code: bytes

    @classmethod
    def of(cls, row: Iterable[Any]) -> NodeRow:
        """Return a row of the database with texts decoded by `index_writer.readable`."""
        *facts, code = row
        return cls._make([*(readable(each) if isinstance(each, bytes) else each for each in facts), code])

    @property
    def facts(self) -> tuple[str | int | None, ...]:
        """The values that the authentication code of the row covers."""
        return self[1:-1]


class SqliteTables:
    """The `Tables` of a connection. Nodes are identified by their numbers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def having(self, condition: Condition, limit: int) -> list[int]:
        """See `Tables.having`."""
        expression = " AND ".join(f"({' OR '.join(map(_expression, group))})" for group in condition)
        return [number for (number,) in self._connection.execute(_HAVING, (expression, limit))]

    def read(self, nodes: Sequence[int]) -> Sequence[NodeRow]:
        """See `Tables.read`."""
        return sorted(map(NodeRow.of, self._connection.execute(_ROWS, (json.dumps(nodes),))))

    def of_map(self, resource_id: str) -> Iterable[NodeRow]:
        """See `Tables.of_map`."""
        return sorted(map(NodeRow.of, self._connection.execute(_OF_MAP, (resource_id,))))

    def common(self, word: str) -> int:
        """See `Tables.common`."""
        if len(word) <= INDEXED:
            return (self._connection.execute(_COMMON_SHORT, (word,)).fetchone() or (0,))[0] or 0
        return self._connection.execute(_COMMON, _span(word)).fetchone()[0] or 0

    def begun(self, word: str, limit: int) -> Sequence[str]:
        """See `Tables.begun`."""
        return [each for (each,) in self._connection.execute(_WORDS, (*_span(word), limit))]


def _span(word: str) -> tuple[str, str]:
    return word, word + chr(0x10FFFF)


def _expression(lexeme: Lexeme) -> str:
    return f'"{lexeme.letter}{lexeme.word}"{" *" if lexeme.begins else ""}'
