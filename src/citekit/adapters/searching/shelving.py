"""Putting maps into the index, and taking them out.

Every node has a number. The nodes of a map have numbers in a row, and the numbers of maps are in the order of their ids, so
that the order of numbers is the order of the maps and of reading. Room is left between maps; where it is used up, the maps
nearby are moved apart.

The terms of a node are its words, each behind a letter that tells the text and the length of the node: `a` to `d` the
title of a node of the first to the fourth class of length, `e` to `h` the summary.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from citekit.adapters.searching.ranking import length_class, length_of
from citekit.domain.node import Node
from citekit.domain.words import words_of
from citekit.wire.locations import to_plain

TITLES, SUMMARIES = "abcd", "efgh"
"""The letters before words of titles and of summaries, by the class of length."""

START = 1 << 45
STRIDE = 1 << 20
"""Numbers that are left free between maps."""

Text = str | bytes

Row = tuple[Text, Text, Text, Text | None, str, int]
"""`(id, title, type, summary, location, whether it is a leaf)`."""

_ADD = "INSERT INTO node (number, id, title, type, summary, location, leaf) VALUES (?, ?, ?, ?, ?, ?, ?)"
_TAKE = "SELECT id, title, type, summary, location, leaf FROM node WHERE number >= ? AND number < ? ORDER BY number"
_COUNT = "INSERT INTO word (word, nodes) VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET nodes = nodes + excluded.nodes"
_BELOW = "SELECT resource_id, first, slots FROM map WHERE resource_id < ? ORDER BY resource_id DESC LIMIT ?"
_ABOVE = "SELECT resource_id, first, slots FROM map WHERE resource_id > ? ORDER BY resource_id LIMIT ?"


class Shelving:
    """Changes to the index, within a transaction of the caller's; `finish` before it is committed."""

    def __init__(self, connection: sqlite3.Connection, stride: int = STRIDE) -> None:
        self._connection = connection
        self._stride = stride
        self._counts: Counter[str] = Counter()

    def put(self, resource_id: str, version: str, nodes: Iterable[Node]) -> None:
        """The map has these nodes now."""
        rows = [_row(node) for node in nodes]
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
        """Write down how many nodes have each word."""
        changed = [(word, by) for word, by in self._counts.items() if by]
        self._connection.executemany(_COUNT, changed)
        gone = [(word,) for word, by in changed if by < 0]
        self._connection.executemany("DELETE FROM word WHERE word = ? AND nodes <= 0", gone)
        self._counts.clear()

    def _add(self, first: int, rows: Sequence[Row]) -> None:
        terms = [(first + at, self._terms(row, 1)) for at, row in enumerate(rows)]
        self._connection.executemany(_ADD, ((first + at, *row) for at, row in enumerate(rows)))
        self._connection.executemany("INSERT INTO term (rowid, terms) VALUES (?, ?)", terms)

    def _take(self, first: int, slots: int) -> list[Row]:
        """The rows with those numbers, taken out."""
        rows: list[Row] = self._connection.execute(_TAKE, (first, first + slots)).fetchall()
        terms = [(first + at, self._terms(row, -1)) for at, row in enumerate(rows)]
        self._connection.executemany("INSERT INTO term (term, rowid, terms) VALUES ('delete', ?, ?)", terms)
        self._connection.execute("DELETE FROM node WHERE number >= ? AND number < ?", (first, first + slots))
        return rows

    def _terms(self, row: Row, by: int) -> str:
        """The terms of a node, whose words are counted on the way."""
        _, title, _, summary, *_ = row
        title, summary = readable(title), readable(summary) if summary else None
        titled, told = set(words_of(title)), set(words_of(summary)) if summary else set()
        self._count(titled | told, by)
        kind = length_class(length_of(title, summary))
        first, second = TITLES[kind], SUMMARIES[kind]
        return " ".join([*(first + word for word in sorted(titled)), *(second + word for word in sorted(told))])

    def _count(self, words: set[str], by: int) -> None:
        for word in words:
            self._counts[word] += by

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


def _row(node: Node) -> Row:
    location = json.dumps(to_plain(node.location), separators=(",", ":"))
    summary = None if node.summary is None else writable(node.summary)
    return (writable(node.id), writable(node.title), writable(node.type), summary, location, int(not node.children))
