"""Putting maps into the index, and taking them out.

Every node has a number. The nodes of a map have numbers in a row, and the numbers of maps are in the order of their ids, so
that the order of numbers is the order of the maps and of reading. Room is left between maps; where it is used up, the maps
nearby are moved apart.

The terms of a node are its words, each behind a letter: `c` for all of them, and `a` again for those of the title of a
short node, `b` for those of the title of another.
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
"""The letters before words of titles, of short nodes and of others, and before all words."""

INDEXED = 4
"""Letters of the longest beginning that the index keeps lists for, and numbers of how common it is."""

START = 1 << 45
STRIDE = 1 << 20
"""Numbers that are left free between maps."""

_compact = json.JSONEncoder(separators=(",", ":")).encode

Text = str | bytes

Row = tuple[Text, Text, Text, Text | None, str, int, bytes]
"""`(id, title, type, summary, location, whether it is a leaf, code)`; the code is `code_parts` under the seal of the home."""

_ADD = "INSERT INTO node (number, id, title, type, summary, location, leaf, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_TAKE = (
    "SELECT id, title, type, summary, location, leaf, code FROM node WHERE number >= ? AND number < ? ORDER BY number"
)
_COUNT = "INSERT INTO word (word, nodes) VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET nodes = nodes + excluded.nodes"
_BEGIN = "INSERT INTO beginning VALUES (?, ?) ON CONFLICT (letters) DO UPDATE SET words = words + excluded.words"
_BELOW = "SELECT resource_id, first, slots FROM map WHERE resource_id < ? ORDER BY resource_id DESC LIMIT ?"
_ABOVE = "SELECT resource_id, first, slots FROM map WHERE resource_id > ? ORDER BY resource_id LIMIT ?"


class IndexWriter:
    """Changes to the index, within a transaction of the caller's; `finish` before it is committed."""

    def __init__(self, connection: sqlite3.Connection, seal: HomeSeal, stride: int = STRIDE) -> None:
        self._connection = connection
        self._seal = seal
        self._stride = stride
        self._added: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()

    def put(self, resource_id: str, version: str, nodes: Iterable[Node]) -> None:
        """The map has these nodes now."""
        rows = [self._row(resource_id, version, node) for node in nodes]
        self.drop(resource_id)
        slots = max(len(rows), 1)
        first = self._room(resource_id, slots)
        self._add(first, rows)
        self._connection.execute("INSERT INTO map VALUES (?, ?, ?, ?)", (resource_id, first, slots, version))

    def drop(self, resource_id: str) -> None:
        """The map is gone."""
        known = self._connection.execute(
            "SELECT first, slots FROM map WHERE resource_id = ?", (resource_id,)
        ).fetchone()
        if known is not None:
            self._take(*known)
            self._connection.execute("DELETE FROM map WHERE resource_id = ?", (resource_id,))

    def finish(self) -> None:
        """Write down how many nodes have each word, and how common each short beginning is."""
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
        """The rows with those numbers, taken out."""
        rows: list[Row] = self._connection.execute(_TAKE, (first, first + slots)).fetchall()
        terms = [(first + at, _terms(row, self._taken)) for at, row in enumerate(rows)]
        self._connection.executemany("INSERT INTO term (term, rowid, terms) VALUES ('delete', ?, ?)", terms)
        self._connection.execute("DELETE FROM node WHERE number >= ? AND number < ?", (first, first + slots))
        return rows

    def _room(self, resource_id: str, slots: int) -> int:
        """The first of `slots` free numbers in a row, between those of the maps before and after."""
        before, after = self._neighbours(resource_id, 1)
        if not before and not after:
            return START
        low: int = before[0][1] + before[0][2] if before else after[0][1] - slots - self._stride
        high: int = after[0][1] if after else low + slots + 2 * self._stride
        if high - low < slots:
            self._move_apart(resource_id, slots)
            return self._room(resource_id, slots)
        return low + (high - low - slots) // 2 if before else low

    def _neighbours(self, resource_id: str, number: int) -> tuple[list[Any], list[Any]]:
        """`(id, first, slots)` of the maps before, the nearest first, and of those after."""
        ask = self._connection.execute
        return ask(_BELOW, (resource_id, number)).fetchall(), ask(_ABOVE, (resource_id, number)).fetchall()

    def _move_apart(self, resource_id: str, slots: int) -> None:
        """Spread the maps nearby evenly, as many as it takes for the room between them to be worth it."""
        near = 4
        while True:
            before, after = self._neighbours(resource_id, near + 1)
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
    """The terms of a node, whose words are counted on the way."""
    _, title, _, summary, *_ = row
    title, summary = readable(title), readable(summary) if summary else None
    titled = set(words_of(title))
    every = titled.union(words_of(summary)) if summary else titled
    counts.update(every)
    kind = SHORT if is_short(length_of(title, summary)) else LONG
    return " ".join([*(kind + word for word in titled), *(TEXT + word for word in every)])


def writable(text: str) -> Text:
    """The text, or its bytes where it holds half a surrogate pair, as JSON may, and SQLite does not take it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def readable(text: Text) -> str:
    """What was made writable, as it was."""
    return text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")


def code_parts(resource_id: str, version: str, facts: Sequence[Text | int | None]) -> list[bytes]:
    """The input of the code of a row: the node, the version of its map, and all data that answers return about it."""
    texts = (each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each for each in facts)
    plain = (b"\0" if each is None else b"%d" % each if isinstance(each, int) else b"=" + each for each in texts)
    return [b"node", resource_id.encode("utf-8", "surrogatepass"), version.encode(), *plain]
