"""Plans a query of the node search index: which words a node must have, and which rows are read.

Words are combined, rarest first, until no node has all of them. If few nodes match, they are read, and further words
are checked in memory. If many nodes match, only the first ones in the ranking order are read.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from citekit.adapters.search.node_search.index_writer import INDEXED, LONG, SHORT, TEXT, readable
from citekit.adapters.search.node_search.ranking import Census, Offer, Ranking, left, ranked, texts_of

EXPANDED = 24
"""Maximum number of words that replace a word prefix."""

_HAVING = "SELECT rowid FROM term WHERE term MATCH ? LIMIT ?"
_ROWS = "SELECT node.* FROM json_each(?) AS each CROSS JOIN node ON node.number = each.value"
_OF_MAP = "SELECT node.* FROM map JOIN node ON number >= first AND number < first + slots WHERE resource_id = ?"
_WORDS = "SELECT word FROM word WHERE word >= ? AND word < ? LIMIT ?"
_COMMON = "SELECT sum(nodes) FROM word WHERE word >= ? AND word < ?"
_COMMON_SHORT = "SELECT words FROM beginning WHERE letters = ?"


class NodeRow(NamedTuple):
    """A row of the table of nodes, with the columns in their order in the table.

    `leaf` is 1 for a node without children. `code` is the authentication code of the row.
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


class _Term(NamedTuple):
    """A word of the query. `common` is how often words with this prefix occur in nodes.

    `begun` are the indexed words with this prefix; empty if there are too many.
    """

    word: str
    common: int
    begun: tuple[str, ...]

    def beginning(self, letters: str) -> str:
        """Return an FTS5 expression for all words that start with this word.

        `letters` are the prefixes in the index that are allowed (see `index_writer`).
        """
        if self.begun:
            return _any(f'"{letter}{word}"' for letter in letters for word in self.begun)
        return _any(f'"{letter}{self.word}" *' for letter in letters)

    def whole(self, letters: str) -> str:
        """Return an FTS5 expression for exactly this word. `letters` are the allowed prefixes in the index."""
        return _any(f'"{letter}{self.word}"' for letter in letters)


class Asking:
    """One query of the node search index, in one transaction.

    Results are `(score, row)`, best first. At most `limit` results are returned, and at most `counted` nodes are
    scored.
    """

    def __init__(self, connection: sqlite3.Connection, words: Sequence[str], limit: int, counted: int) -> None:
        self._connection = connection
        self._words = words
        self._limit = limit
        self._counted = max(counted, limit)
        self._terms: list[_Term] = []
        self._census: Census | None = None
        self._offers: list[Offer[NodeRow]] = []
        self._had_last: list[int] = []

    def everywhere(self) -> list[tuple[float, NodeRow]]:
        """Return the best nodes of all maps, as `(score, row)`, best first."""
        self._terms = [self._term(word) for word in self._words]
        needed = left([term.common for term in self._terms], self._had)
        if self._census is None and needed:
            self._offers = self._read(self._first([self._terms[at] for at in needed]))
        ranking: Ranking[NodeRow] = Ranking(self._words, needed, self._limit, self._counted)
        for each in self._offers:
            ranking.offer(*each)
        return ranking.best()

    def within(self, resources: Sequence[str]) -> list[tuple[float, NodeRow]]:
        """Return the best nodes of the maps `resources`, as `(score, row)`, best first. All their nodes are read."""

        def offers() -> Iterator[Offer[NodeRow]]:
            for order, resource_id in enumerate(resources):
                for row in map(NodeRow.of, self._connection.execute(_OF_MAP, (resource_id,))):
                    yield (order, row.number), texts_of(row.title, row.summary), row

        return ranked(self._words, offers, self._limit, self._counted)

    def _had(self, some: Sequence[int]) -> bool:
        """Return whether any node has all of the words at the positions `some`.

        If few nodes do, they are all read, and later calls are answered from memory.
        """
        if self._census is not None:
            return self._census.had(some)
        numbers = self._having(_all(self._terms[at].beginning(TEXT) for at in some), self._counted + 1)
        if numbers:
            self._had_last = numbers
        if 0 < len(numbers) <= self._counted:
            self._offers, self._census = self._read(numbers), Census(self._words)
            for _, texts, _ in self._offers:
                self._census.look(texts)
        return bool(numbers)

    def _first(self, terms: Sequence[_Term]) -> Iterable[int]:
        """Return the numbers of the first nodes in the ranking order.

        Nodes that match `terms` in the title come first. `_had_last` contains enough nodes that match the terms
        anywhere, in order.
        """
        most = self._counted
        begun = [
            at for kind in (SHORT, LONG) for at in self._having(_all(term.beginning(kind) for term in terms), most + 1)
        ]
        titled = dict.fromkeys(begun if len(begun) <= most else self._titled(terms))
        return itertools.islice({**titled, **dict.fromkeys(self._had_last)}, most)

    def _titled(self, terms: Sequence[_Term]) -> Iterable[int]:
        """Return the numbers of the first nodes with `terms` in the title, without reading all such nodes.

        Matches of whole words precede matches of prefixes. Within each group, short nodes come first.
        """
        seen: dict[int, None] = {}
        for expressions in ([term.whole for term in terms], [term.beginning for term in terms]):
            for letter in (SHORT, LONG):
                matching = _all(expression(letter) for expression in expressions)
                seen.update(dict.fromkeys(self._having(matching, self._counted + len(seen))))
                if len(seen) >= self._counted:
                    return seen
        return seen

    def _having(self, expression: str, limit: int) -> list[int]:
        """Return the numbers of the first `limit` nodes that match an FTS5 expression, in ascending order."""
        return [number for (number,) in self._connection.execute(_HAVING, (expression, limit))]

    def _read(self, numbers: Iterable[int]) -> list[Offer[NodeRow]]:
        """Read the nodes with these numbers and prepare them for ranking."""
        rows = map(NodeRow.of, self._connection.execute(_ROWS, (json.dumps(list(numbers)),)))
        return [((0, row.number), texts_of(row.title, row.summary), row) for row in rows]

    def _term(self, word: str) -> _Term:
        """Look up a word of the query in the index: how common it is and which indexed words start with it."""
        ask, span = self._connection.execute, (word, word + chr(0x10FFFF))
        short = len(word) <= INDEXED
        (common,) = (ask(_COMMON_SHORT, (word,)).fetchone() or (0,)) if short else ask(_COMMON, span).fetchone()
        known = ask(_WORDS, (*span, 2 if short else EXPANDED + 1)).fetchall() if common else ()
        few = len(known) <= (1 if short else EXPANDED)
        return _Term(word, common or 0, tuple(each for (each,) in known) if few else ())


def _all(expressions: Iterable[str]) -> str:
    return " AND ".join(expressions)


def _any(expressions: Iterable[str]) -> str:
    return f"({' OR '.join(expressions)})"
