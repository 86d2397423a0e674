"""Reads the tables of the node search index in PostgreSQL for a query plan, and changes the tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from citekit.adapters.libraries.postgres import terms
from citekit.adapters.libraries.postgres.database import id_of, key_of
from citekit.adapters.search.node_search.index_writer import INDEXED, lexemes_of
from citekit.adapters.search.node_search.query_plan import Condition
from citekit.domain.node import Node
from citekit.wire.locations import from_plain, to_plain

if TYPE_CHECKING:
    from psycopg import Connection

_HAVING = (
    "WITH found AS MATERIALIZED (SELECT resource, at FROM citekit_node WHERE space = %s AND terms @@ %s::tsquery)"
    " SELECT resource, at FROM found ORDER BY resource, at LIMIT %s"
)
"""PostgreSQL completes the first part before the second part, so it does not scan all nodes in order."""

_ROWS = (
    "SELECT n.resource, n.data FROM unnest(%s::bytea[], %s::integer[]) AS each (resource, at)"
    " JOIN citekit_node n ON n.space = %s AND n.resource = each.resource AND n.at = each.at ORDER BY n.resource, n.at"
)
_OF_MAP = "SELECT resource, data FROM citekit_node WHERE space = %s AND resource = %s ORDER BY at"
_WORDS = "SELECT word FROM citekit_word WHERE space = %s AND word >= %s AND word < %s LIMIT %s"
_COMMON = "SELECT sum(nodes)::bigint FROM citekit_word WHERE space = %s AND word >= %s AND word < %s"
_COMMON_SHORT = "SELECT words FROM citekit_beginning WHERE space = %s AND letters = %s"
_ADD = (
    "INSERT INTO citekit_node (space, resource, at, data, terms) VALUES (%s, %s, %s, %s, array_to_tsvector(%s::text[]))"
)
_ADD_MAP = (
    "INSERT INTO citekit_node_map (space, resource, version) VALUES (%s, %s, %s)"
    " ON CONFLICT (space, resource) DO UPDATE SET version = excluded.version"
)
_COUNT = (
    "INSERT INTO citekit_word (space, word, nodes) VALUES (%s, %s, %s)"
    " ON CONFLICT (space, word) DO UPDATE SET nodes = citekit_word.nodes + excluded.nodes"
)
_BEGIN = (
    "INSERT INTO citekit_beginning (space, letters, words) VALUES (%s, %s, %s)"
    " ON CONFLICT (space, letters) DO UPDATE SET words = citekit_beginning.words + excluded.words"
)
_GONE = "DELETE FROM citekit_word WHERE space = %s AND word = ANY (%s) AND nodes <= 0"


class PostgresRow(NamedTuple):
    """A node of the map `resource_id`. `location` is plain data, as `to_plain` returns it."""

    resource_id: str
    id: str
    title: str
    type: str
    summary: str | None
    location: Any
    is_leaf: bool

    @classmethod
    def of(cls, resource: bytes, data: bytes) -> PostgresRow:
        """Return the node for the columns `resource` and `data` of the table."""
        return cls(id_of(resource), *json.loads(data))

    @property
    def head(self) -> Node:
        """The node without its children."""
        return Node(self.id, self.title, self.type, from_plain(self.location), self.summary)


class PostgresTables:
    """The `Tables` of a transaction for the index in one space (see `Database.space`).

    A node is identified by its map and its number in reading order.
    """

    def __init__(self, connection: Connection, space: int) -> None:
        self._connection = connection
        self._space = space

    def having(self, condition: Condition, limit: int) -> list[terms.Key]:
        """See `Tables.having`."""
        wanted = [[(each.letter + each.word, each.begins) for each in group] for group in condition]
        asked = self._space, terms.query(self._space, wanted), limit
        found: list[terms.Key] = self._connection.execute(_HAVING, asked).fetchall()
        if wanted:
            query, values = terms.long_rows(self._space, wanted)
            found += self._connection.execute(query.encode(), values)
        return sorted(found)[:limit]

    def read(self, nodes: Sequence[terms.Key]) -> Sequence[PostgresRow]:
        """See `Tables.read`."""
        asked = [resource for resource, _ in nodes], [at for _, at in nodes], self._space
        return [PostgresRow.of(*row) for row in self._connection.execute(_ROWS, asked)]

    def of_map(self, resource_id: str) -> Iterable[PostgresRow]:
        """See `Tables.of_map`."""
        asked = self._space, key_of(resource_id)
        return [PostgresRow.of(*row) for row in self._connection.execute(_OF_MAP, asked)]

    def common(self, word: str) -> int:
        """See `Tables.common`."""
        if len(word) <= INDEXED:
            row = self._connection.execute(_COMMON_SHORT, (self._space, word.encode())).fetchone()
        else:
            row = self._connection.execute(_COMMON, (self._space, *_span(word))).fetchone()
        return row[0] or 0 if row else 0

    def begun(self, word: str, limit: int) -> Sequence[str]:
        """See `Tables.begun`."""
        return [each.decode() for (each,) in self._connection.execute(_WORDS, (self._space, *_span(word), limit))]


class PostgresWriter:
    """Changes the nodes in a space within a transaction of the caller. Call `finish` before it is committed.

    No other transaction may change the space at the same time.
    """

    def __init__(self, connection: Connection, space: int) -> None:
        self._connection = connection
        self._space = space
        self._counts: Counter[str] = Counter()

    def put(self, resource_id: str, version: str, nodes: Iterable[Node]) -> None:
        """Replace the nodes of a map. `version` identifies the state of the map."""
        self.drop(resource_id)
        key = key_of(resource_id)
        rows, lexemes = [], []
        for at, node in enumerate(nodes):
            facts = [node.id, node.title, node.type, node.summary, to_plain(node.location), not node.children]
            parts = terms.parts(self._space, lexemes_of(node.title, node.summary, self._counts))
            data = json.dumps(facts, separators=(",", ":")).encode()
            rows.append((self._space, key, at, data, parts[0] if len(parts) == 1 else None))
            lexemes.append(((key, at), parts))
        self._many(_ADD, rows)
        terms.add_long(self._connection, self._space, lexemes)
        self._connection.execute(_ADD_MAP, (self._space, key, version))

    def drop(self, resource_id: str) -> None:
        """Remove a map and its nodes."""
        asked = self._space, key_of(resource_id)
        taken: Counter[str] = Counter()
        for resource, data in self._connection.execute(_OF_MAP, asked):
            row = PostgresRow.of(resource, data)
            lexemes_of(row.title, row.summary, taken)
        self._counts.subtract(taken)
        self._connection.execute("DELETE FROM citekit_node WHERE space = %s AND resource = %s", asked)
        terms.remove_long(self._connection, *asked)
        self._connection.execute("DELETE FROM citekit_node_map WHERE space = %s AND resource = %s", asked)

    def finish(self) -> None:
        """Write the changed counts: of nodes for each word, and their sums for each prefix of up to `INDEXED` letters."""
        changed = sorted((word, by) for word, by in self._counts.items() if by)
        self._many(_COUNT, [(self._space, word.encode(), by) for word, by in changed])
        gone = [word.encode() for word, by in changed if by < 0]
        self._connection.execute(_GONE, (self._space, gone))
        begun: Counter[str] = Counter()
        for word, by in changed:
            for length in range(1, min(len(word), INDEXED) + 1):
                begun[word[:length]] += by
        self._many(_BEGIN, [(self._space, letters.encode(), by) for letters, by in sorted(begun.items())])
        self._counts.clear()

    def _many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(statement.encode(), rows)


def versions_of(connection: Connection, space: int, resources: Iterable[str] | None = None) -> Mapping[str, str]:
    """Return the indexed versions of the maps `resources` (None: of all maps) by resource ID."""
    if resources is None:
        rows = connection.execute("SELECT resource, version FROM citekit_node_map WHERE space = %s", (space,))
    else:
        rows = connection.execute(
            "SELECT resource, version FROM citekit_node_map WHERE space = %s AND resource = ANY (%s)",
            (space, [key_of(each) for each in resources]),
        )
    return {id_of(resource): version for resource, version in rows}


def _span(word: str) -> tuple[bytes, bytes]:
    """Return the limits of the words that begin with `word`; the second is excluded."""
    return word.encode(), word.encode() + b"\xff"
