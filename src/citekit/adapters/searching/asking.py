"""Which rows of the index may be among the best for a question: all that the rule counts, and few others.

Nodes that have all the words are asked for first. Where there are none, the nodes that have a rare word are all looked at,
which tells how many words any of them has at most; those without a rare word are asked for by sets of common words.
"""

from __future__ import annotations

import itertools
import math
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from citekit.adapters.searching.ranking import Ranking, texts_of
from citekit.adapters.searching.shelving import SUMMARIES, TITLES, readable

RARE = 2_000
"""Nodes that are looked at one by one, at most."""

SETS = 100
"""Sets of common words that are asked for, at most; else every node that has any of them is looked at."""

_EXPANDED = 24
"""Words that a beginning is replaced with, at most."""

_INDEXED = 3
"""Characters of the longest beginning that the index keeps lists for."""

_SOME = 500
"""Words that are looked at to tell how common a beginning is."""

_MATCHING = "SELECT node.* FROM term CROSS JOIN node ON node.number = term.rowid WHERE term MATCH ?"
_NUMBERS = "SELECT rowid FROM term WHERE term MATCH ? LIMIT ?"
_ONE = "SELECT * FROM node WHERE number = ?"
_OF_MAP = "SELECT * FROM node WHERE number >= ? AND number < ? ORDER BY number"
_WORDS = "SELECT word, nodes FROM word WHERE word >= ? AND word < ? LIMIT ?"


class NodeRow(NamedTuple):
    """A node as it stands in the index, the columns of its table in their order."""

    number: int
    id: str
    title: str
    type: str
    summary: str | None
    location: str
    leaf: int

    @classmethod
    def of(cls, row: Iterable[Any]) -> NodeRow:
        """What was written by `shelving.writable` is text again."""
        return cls._make(readable(each) if isinstance(each, bytes) else each for each in row)


class _Term(NamedTuple):
    """A word of the question: how many nodes have it, roughly, and the words that begin with it where they are few."""

    word: str
    nodes: int
    begun: tuple[str, ...]

    def beginning(self, letters: str) -> str:
        """The expression for a word that begins with it, behind any of the letters."""
        if self.begun:
            return _any(f'"{letter}{word}"' for letter in letters for word in self.begun)
        return _any(f'"{letter}{self.word}" *' for letter in letters)

    def whole(self, letters: str) -> str:
        """The expression for the whole word."""
        return _any(f'"{letter}{self.word}"' for letter in letters)


class Asking:
    """One question to the index, in one transaction; it offers to `ranking` every node that could count."""

    def __init__(self, connection: sqlite3.Connection, ranking: Ranking[NodeRow]) -> None:
        self._connection = connection
        self._ranking = ranking
        self._offered: set[int] = set()

    def everywhere(self, words: Sequence[str]) -> None:
        """Look in all maps."""
        terms = sorted((found for word in words if (found := self._term(word))), key=lambda term: term.nodes)
        if not terms or self._offer_set(terms):
            return
        rare = [
            term
            for term, total in zip(terms, itertools.accumulate(t.nodes for t in terms), strict=True)
            if total <= RARE
        ]
        self._offer_any(rare)
        self._offer_common(terms[len(rare) :], len(terms) - 1)

    def within(self, resources: Iterable[str]) -> None:
        """Look at every node of some maps."""
        for order, resource_id in enumerate(resources):
            found = self._connection.execute(
                "SELECT first, slots FROM map WHERE resource_id = ?", (resource_id,)
            ).fetchone()
            if found is not None:
                first, slots = found
                for row in map(NodeRow.of, self._connection.execute(_OF_MAP, (first, first + slots))):
                    self._ranking.offer((order, row.number), texts_of(row.title, row.summary), row)

    def _offer_common(self, terms: Sequence[_Term], most: int) -> None:
        """Offer the nodes that have the most of these words, where those are as many as others have that were offered."""
        for size in range(min(len(terms), most), max(self._ranking.most, 1) - 1, -1):
            if math.comb(len(terms), size) > SETS:
                self._offer_any(terms)
                return
            if sum(self._offer_set(each) for each in itertools.combinations(terms, size)):
                return

    def _offer_set(self, terms: Sequence[_Term]) -> bool:
        """Offer the nodes that have all these words, the first of them where they are very many; whether there are any."""
        counted = self._ranking.counted
        everything = _all(term.beginning(TITLES + SUMMARIES) for term in terms)
        numbers = self._numbers(everything, counted + 1)
        self._offer(numbers if len(numbers) <= counted else self._first(terms, counted))
        return bool(numbers)

    def _first(self, terms: Sequence[_Term], counted: int) -> Iterable[int]:
        """The first nodes in the order of the rule: title whole, title begun, others; of each the shortest first."""
        seen: dict[int, None] = {}
        for tier in range(3):
            for kind in range(len(TITLES)):
                expression = _all(_tier(term, tier, kind) for term in terms)
                seen.update(dict.fromkeys(self._numbers(expression, counted + len(seen))))
                if len(seen) >= counted:
                    return itertools.islice(seen, counted)
        return seen

    def _offer_any(self, terms: Sequence[_Term]) -> None:
        """Offer every node that has any of these words."""
        if terms:
            expression = _any(term.beginning(TITLES + SUMMARIES) for term in terms)
            self._offer_rows(self._connection.execute(_MATCHING, (expression,)))

    def _offer(self, numbers: Iterable[int]) -> None:
        rows = (self._connection.execute(_ONE, (number,)).fetchone() for number in numbers)
        self._offer_rows(row for row in rows if row is not None)

    def _offer_rows(self, rows: Iterable[Sequence[Any]]) -> None:
        """Offer each unless it was before."""
        for row in map(NodeRow.of, rows):
            if row.number not in self._offered:
                self._offered.add(row.number)
                self._ranking.offer((0, row.number), texts_of(row.title, row.summary), row)

    def _numbers(self, expression: str, limit: int) -> list[int]:
        """The numbers of the first nodes that match, in their order."""
        return [number for (number,) in self._connection.execute(_NUMBERS, (expression, limit))]

    def _term(self, word: str) -> _Term | None:
        """What the index knows of a word of the question; None where no node has it."""
        known = self._connection.execute(_WORDS, (word, word + chr(0x10FFFF), _SOME)).fetchall()
        nodes = sum(number for _, number in known)
        few = len(word) > _INDEXED and nodes > RARE and len(known) <= _EXPANDED
        return _Term(word, nodes, tuple(each for each, _ in known) if few else ()) if known else None


def _tier(term: _Term, tier: int, kind: int) -> str:
    if tier == 0:
        return term.whole(TITLES[kind])
    return term.beginning(TITLES[kind] if tier == 1 else TITLES[kind] + SUMMARIES[kind])


def _all(expressions: Iterable[str]) -> str:
    return " AND ".join(expressions)


def _any(expressions: Iterable[str]) -> str:
    return f"({' OR '.join(expressions)})"
