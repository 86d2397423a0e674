"""Which nodes count, and in what order: the rule of `NodeIndex`, for every adapter the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from citekit.domain.words import words_of

COUNTED = 500
"""Nodes with the same words of the question that count at most."""

TITLE_WEIGHT = 3.0

SHORT = (32, 64, 128)
"""Lengths below which a node is of the first, second or third class; others are of a fourth."""

R = TypeVar("R")

Place = tuple[int, int]
"""Where a node stands in the order of the maps and of reading."""


class Texts(NamedTuple):
    """What a node is found by: the words of its title and its summary, each between spaces of its own, and its length."""

    title: str
    summary: str
    length: float


class _Counted(NamedTuple, Generic[R]):
    """A node that counts, as far as is known by now."""

    key: tuple[int, int, Place]
    counts: list[float]
    length: float
    node: R


def texts_of(title: str, summary: str | None) -> Texts:
    """The texts of a node."""
    return Texts(_spaced(words_of(title)), _spaced(words_of(summary)) if summary else "", length_of(title, summary))


def length_of(title: str, summary: str | None) -> float:
    """Characters of the title, and a quarter of those of the summary."""
    return len(title) + len(summary or "") / 4


def length_class(length: float) -> int:
    """0 for the shortest, to 3."""
    return sum(length >= each for each in SHORT)


class Ranking(Generic[R]):
    """Nodes that were offered, of which the best are told. Holds at most a few times `counted` for each set of words."""

    def __init__(self, words: Sequence[str], limit: int, counted: int = COUNTED) -> None:
        self.counted = max(counted, limit)
        self._limit = limit
        self._patterns = [(f" {word}", f" {word} ") for word in words]
        self._most = 1
        self._groups: dict[tuple[bool, ...], list[_Counted[R]]] = {}

    @property
    def most(self) -> int:
        """How many words the nodes have that have the most; 0 where none has any."""
        return self._most if self._groups else 0

    def offer(self, place: Place, texts: Texts, node: R) -> None:
        """Take a node into account; each node is offered once."""
        counts, tier = _match(self._patterns, texts)
        has = tuple(map(bool, counts))
        had = sum(has)
        if had < self._most:
            return
        if had > self._most:
            self._most = had
            self._groups.clear()
        key = (tier, length_class(texts.length), place)
        group = self._groups.setdefault(has, [])
        group.append(_Counted(key, counts, texts.length, node))
        if len(group) > 4 * self.counted:
            _shorten(group, self.counted)

    def best(self) -> list[tuple[float, R]]:
        """`(score, node)` of the best, best first."""
        for group in self._groups.values():
            _shorten(group, self.counted)
        counting = [each for group in self._groups.values() for each in group]
        rarity = _rarity(len(self._patterns), counting)
        scored = [(-_score(each, rarity), each.key[2], each.node) for each in counting]
        scored.sort(key=lambda each: each[:2])
        return [(-score, node) for score, _, node in scored[: self._limit]]


def _spaced(words: Sequence[str]) -> str:
    return f" {'  '.join(words)} "


def _match(patterns: Sequence[tuple[str, str]], texts: Texts) -> tuple[list[float], int]:
    """How strongly a node has each word, and whether its title has all that it has whole (0), begun (1), or not (2)."""
    title, summary, _ = texts
    counts, tier = [], 0
    for begun, whole in patterns:
        if begun in title:
            strength = _strength(begun, whole, title)
            tier = tier if strength >= 1 else max(tier, 1)
            counts.append(TITLE_WEIGHT * strength + (_strength(begun, whole, summary) if begun in summary else 0.0))
        elif begun in summary:
            tier = 2
            counts.append(_strength(begun, whole, summary))
        else:
            counts.append(0.0)
    return counts, tier


def _strength(begun: str, whole: str, text: str) -> float:
    """1 for the whole word, and 1/2 for others that begin with it."""
    if whole not in text:
        return 0.5
    return 1.5 if text.count(begun) > text.count(whole) else 1.0


def _shorten(group: list[_Counted[R]], size: int) -> None:
    if len(group) > size:
        group.sort(key=lambda each: each.key)
        del group[size:]


def _rarity(words: int, counting: Sequence[_Counted[R]]) -> list[float]:
    strong = [0] * words
    for each in counting:
        for n, count in enumerate(each.counts):
            strong[n] += count >= TITLE_WEIGHT
    return [1 + math.log(1 + len(counting) / (1 + many)) for many in strong]


def _score(node: _Counted[R], rarity: Sequence[float]) -> float:
    total = sum(count * rare for count, rare in zip(node.counts, rarity, strict=True))
    return total / (1 + math.log1p(node.length) / 10)
