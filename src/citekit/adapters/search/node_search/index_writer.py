"""Adds maps to the node search index and removes them.

The nodes of a map have consecutive numbers in reading order, and maps are numbered in the order of their IDs, which is
the order of search results with equal scores. When a gap between the numbers of maps is used up, the maps near it get
new numbers.

The index stores the words of a node with a prefix of one letter: `c` for every word, and in addition `a` for words in
the title of a short node or `b` for words in the title of another node.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from citekit.adapters.search.node_search.ranking import is_short, length_of
from citekit.adapters.system.home_seal import HomeSeal
from citekit.domain.node import Node
from citekit.domain.words import words_of
from citekit.wire.locations import to_plain

SHORT, LONG, TEXT = "abc"
"""The prefixes of title words of short nodes, of title words of other nodes, and of all words."""

INDEXED = 4
"""Maximum length of a word prefix with its own index entry."""

START = 1 << 45
STRIDE = 1 << 20
"""Size of the gap between the numbers of maps."""

_compact = json.JSONEncoder(separators=(",", ":")).encode

Text = str | bytes

Row = tuple[Text, Text, Text, Text | None, str, int, bytes]
"""`(id, title, type, summary, location, whether it is a leaf, code)`; the code authenticates `code_parts`."""

_ADD = "INSERT INTO node (number, id, title, type, summary, location, leaf, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_TAKE = (
    "SELECT id, title, type, summary, location, leaf, code FROM node WHERE number >= ? AND number < ? ORDER BY number"
)
_COUNT = "INSERT INTO word (word, nodes) VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET nodes = nodes + excluded.nodes"
_BEGIN = "INSERT INTO beginning VALUES (?, ?) ON CONFLICT (letters) DO UPDATE SET words = words + excluded.words"
_BELOW = "SELECT resource_id, first, slots FROM map WHERE resource_id < ? ORDER BY resource_id DESC LIMIT ?"
_ABOVE = "SELECT resource_id, first, slots FROM map WHERE resource_id > ? ORDER BY resource_id LIMIT ?"


class IndexWriter:
    """Changes the node search index within a transaction of the caller. Call `finish` before it is committed."""

    def __init__(self, connection: sqlite3.Connection, seal: HomeSeal, stride: int = STRIDE) -> None:
        self._connection = connection
        self._seal = seal
        self._stride = stride
        self._added: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()

    def put(self, resource_id: str, version: str, nodes: Iterable[Node]) -> None:
        """Add the nodes of a map to the index, in place of earlier nodes of the map.

        `version` identifies the state of the map.
        """
        rows = [self._row(resource_id, version, node) for node in nodes]
        self.drop(resource_id)
        slots = max(len(rows), 1)
        first = self._room(resource_id, slots)
        self._add(first, rows)
        self._connection.execute("INSERT INTO map VALUES (?, ?, ?, ?)", (resource_id, first, slots, version))

    def drop(self, resource_id: str) -> None:
        """Remove a map and its nodes from the index."""
        known = self._connection.execute(
            "SELECT first, slots FROM map WHERE resource_id = ?", (resource_id,)
        ).fetchone()
        if known is not None:
            self._take(*known)
            self._connection.execute("DELETE FROM map WHERE resource_id = ?", (resource_id,))

    def finish(self) -> None:
        """Write the changed counts: of nodes for each word, and their sums for each prefix of up to `INDEXED` letters."""
        self._added.subtract(self._taken)
        changed = sorted((word, by) for word, by in self._added.items() if by)
        self._connection.executemany(_COUNT, changed)
        gone = [(word,) for word, by in changed if by < 0]
        self._connection.executemany("DELETE FROM word WHERE word = ? AND nodes <= 0", gone)
        begun: Counter[str] = Counter()
        for word, by in changed:
            for length in range(1, min(len(word), INDEXED) + 1):
                begun[word[:length]] += by
        self._connection.executemany(_BEGIN, begun.items())
        self._added.clear()
        self._taken.clear()

    def _row(self, resource_id: str, version: str, node: Node) -> Row:
        location = _compact(to_plain(node.location))
        summary = None if node.summary is None else writable(node.summary)
        row = (writable(node.id), writable(node.title), writable(node.type), summary, location, int(not node.children))
        return (*row, self._seal.code(*code_parts(resource_id, version, row)))

    def _add(self, first: int, rows: Sequence[Row]) -> None:
        terms = [(first + at, _terms(row, self._added)) for at, row in enumerate(rows)]
        self._connection.executemany(_ADD, ((first + at, *row) for at, row in enumerate(rows)))
        self._connection.executemany("INSERT INTO term (rowid, terms) VALUES (?, ?)", terms)

    def _take(self, first: int, slots: int) -> list[Row]:
        """Delete the nodes with the numbers `first` to `first + slots - 1`, and return their rows."""
        rows: list[Row] = self._connection.execute(_TAKE, (first, first + slots)).fetchall()
        terms = [(first + at, _terms(row, self._taken)) for at, row in enumerate(rows)]
        self._connection.executemany("INSERT INTO term (term, rowid, terms) VALUES ('delete', ?, ?)", terms)
        self._connection.execute("DELETE FROM node WHERE number >= ? AND number < ?", (first, first + slots))
        return rows

    def _room(self, resource_id: str, slots: int) -> int:
        """Return the first of `slots` consecutive free numbers between those of the previous and of the next map."""
        before, after = self._neighbors(resource_id, 1)
        if not before and not after:
            return START
        low: int = before[0][1] + before[0][2] if before else after[0][1] - slots - self._stride
        high: int = after[0][1] if after else low + slots + 2 * self._stride
        if high - low < slots:
            self._move_apart(resource_id, slots)
            return self._room(resource_id, slots)
        return low + (high - low - slots) // 2 if before else low

    def _neighbors(self, resource_id: str, number: int) -> tuple[list[Any], list[Any]]:
        """Return up to `number` previous maps, nearest first, and up to `number` next maps.

        Each is `(resource_id, first, slots)`, with its first node number and how many numbers it occupies.
        """
        ask = self._connection.execute
        return ask(_BELOW, (resource_id, number)).fetchall(), ask(_ABOVE, (resource_id, number)).fetchall()

    def _move_apart(self, resource_id: str, slots: int) -> None:
        """Renumber the maps near `resource_id`, so that there is a gap of at least `slots` numbers for it."""
        near = 4
        while True:
            before, after = self._neighbors(resource_id, near + 1)
            low = before[near][1] + before[near][2] if len(before) > near else before[-1][1] - near * self._stride
            high = after[near][1] if len(after) > near else after[-1][1] + after[-1][2] + near * self._stride
            below, above = before[:near][::-1], after[:near]
            taken = sum(each[2] for each in (*below, *above))
            gap = (high - low - taken - slots) // (len(below) + len(above) + 2)
            if gap >= max(1, self._stride >> 8):
                break
            near *= 4
        self._spread(below, above, low + gap, gap, slots)

    def _spread(self, below: Sequence[Any], above: Sequence[Any], start: int, gap: int, slots: int) -> None:
        taken = [(name, self._take(first, size), size) for name, first, size in (*below, *above)]
        for at, (name, rows, size) in enumerate(taken):
            start += slots + gap if at == len(below) else 0
            self._add(start, rows)
            self._connection.execute("UPDATE map SET first = ? WHERE resource_id = ?", (start, name))
            start += size + gap


def _terms(row: Row, counts: Counter[str]) -> str:
    """Return the words of a node with their prefixes as one text, and add the words to `counts`."""
    _, title, _, summary, *_ = row
    return " ".join(lexemes_of(readable(title), readable(summary) if summary else None, counts))


def lexemes_of(title: str, summary: str | None, counts: Counter[str]) -> list[str]:
    """Return the words of a node, each after its prefix, and add the words to `counts`."""
    titled = set(words_of(title))
    every = titled.union(words_of(summary)) if summary else titled
    counts.update(every)
    kind = SHORT if is_short(length_of(title, summary)) else LONG
    return [*(kind + word for word in titled), *(TEXT + word for word in every)]


def writable(text: str) -> Text:
    """Return `text`, or its bytes if it has an unpaired surrogate, which JSON allows and SQLite does not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def readable(text: Text) -> str:
    """Return the text that `writable` converted to `text`."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")


def code_parts(resource_id: str, version: str, facts: Sequence[Text | int | None]) -> list[bytes]:
    """Return the data that the authentication code of a node covers: the ID and the version of its map, and `facts`."""
    texts = (each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each for each in facts)
    plain = (b"\0" if each is None else b"%d" % each if isinstance(each, int) else b"=" + each for each in texts)
    return [b"node", resource_id.encode("utf-8", "surrogatepass"), version.encode(), *plain]
