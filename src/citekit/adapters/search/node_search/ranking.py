"""Which nodes count, and in what order: the rule of `NodeIndex`, for every adapter the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from citekit.domain.words import words_of

COUNTED = 500
"""Nodes that count, at most."""

TITLE_WEIGHT = 3.0

SHORT = 32
"""Length below which a node is short."""

R = TypeVar("R")

Offer = tuple["Place", "Texts", R]
"""The location of a node, the words that find it, and the data that answers return."""

Place = tuple[int, int]
"""Where a node stands in the order of the maps and of reading."""


class Texts(NamedTuple):
    """What a node is found by: the words of its title and its summary, each between spaces of its own, and its length."""

    title: str
    summary: str
    length: float


class _Counted(NamedTuple, Generic[R]):
    """A node that counts, as far as is known by now."""

    key: tuple[int, bool, Place]
    counts: list[float]
    length: float
    node: R


def texts_of(title: str, summary: str | None) -> Texts:
    """The texts of a node."""
    return Texts(_spaced(words_of(title)), _spaced(words_of(summary)) if summary else "", length_of(title, summary))


def length_of(title: str, summary: str | None) -> float:
    """Characters of the title, and a quarter of those of the summary."""
    return len(title) + len(summary or "") / 4


def is_short(length: float) -> bool:
    """Whether a node of that length is short."""
    return length < SHORT


def left(common: Sequence[int], had: Callable[[Sequence[int]], bool]) -> Sequence[int]:
    """Which words of a question a node must have, as positions, the rarest first.

    As long as no node has all of them, the most common is left out. `common` says how common each is, `had` whether any node
    has all of some; it is asked about ever longer beginnings of the rarest, or shorter ones than what no node had.
    """
    rarest = _rarest_first(common)
    had_all, too_many, size = 0, len(rarest) + 1, 1
    while had_all + 1 < too_many:
        if had(rarest[:size]):
            had_all = size
        else:
            too_many = size
        size = (had_all + too_many) // 2 if too_many <= len(rarest) else min(2 * had_all, len(rarest))
    return rarest[:had_all]


def ranked(
    words: Sequence[str], offers: Callable[[], Iterable[Offer[R]]], limit: int, counted: int
) -> list[tuple[float, R]]:
    """`(score, node)` of the best of these nodes, best first; they are yielded a second time if no node has all words."""
    census, ranking = Census(words), Ranking[R](words, range(len(words)), limit, counted)
    for each in offers():
        census.look(each[1])
        ranking.offer(*each)
    best = ranking.best()
    needed = () if best else census.left()
    if not needed:
        return best
    ranking = Ranking(words, needed, limit, counted)
    for each in offers():
        ranking.offer(*each)
    return ranking.best()


class Census:
    """How common each word of a question is, and which of them some node has together, of the nodes that were looked at."""

    def __init__(self, words: Sequence[str]) -> None:
        self._patterns = [f" {word}" for word in words]
        self._common = [0] * len(words)
        self._together: set[frozenset[int]] = set()

    def look(self, texts: Texts) -> None:
        """Take a node into account."""
        has = frozenset(at for at, each in enumerate(self._patterns) if each in texts.title or each in texts.summary)
        if has:
            self._together.add(has)
            different = f" {'  '.join({*texts.title.split(), *texts.summary.split()})}"
            for at in has:
                self._common[at] += different.count(self._patterns[at])

    def left(self) -> Sequence[int]:
        """Which words a node must have, by `left`."""
        return left(self._common, self.had)

    def had(self, some: Iterable[int]) -> bool:
        """Whether any node has all of these words."""
        return any(has.issuperset(some) for has in self._together)


class Ranking(Generic[R]):
    """Offered nodes, of which the best are returned. Holds at most a few times `counted`."""

    def __init__(self, words: Sequence[str], needed: Iterable[int], limit: int, counted: int = COUNTED) -> None:
        """`needed` are the positions of the words that a node must have."""
        self.counted = max(counted, limit)
        self._limit = limit
        self._patterns = [(f" {word}", f" {word} ") for word in words]
        self._needed = [self._patterns[at] for at in needed]
        self._counting: list[_Counted[R]] = []

    def offer(self, place: Place, texts: Texts, node: R) -> None:
        """Take a node into account; each node is offered once."""
        tier = _tier(self._needed, texts)
        if tier is None:
            return
        counts = [_count(begun, whole, texts) for begun, whole in self._patterns]
        key = (tier, tier < 2 and not is_short(texts.length), place)
        self._counting.append(_Counted(key, counts, texts.length, node))
        if len(self._counting) > 4 * self.counted:
            _shorten(self._counting, self.counted)

    def best(self) -> list[tuple[float, R]]:
        """`(score, node)` of the best, best first."""
        _shorten(self._counting, self.counted)
        rarity = _rarity(len(self._patterns), self._counting)
        scored = [(-_score(each, rarity), each.key[2], each.node) for each in self._counting]
        scored.sort(key=lambda each: each[:2])
        return [(-score, node) for score, _, node in scored[: self._limit]]


def _rarest_first(common: Sequence[int]) -> list[int]:
    """The positions of words that any node has, the rarest first; of equally common ones the first of the question."""
    return sorted((at for at, number in enumerate(common) if number), key=lambda at: common[at])


def _spaced(words: Sequence[str]) -> str:
    return f" {'  '.join(words)} "


def _tier(needed: Sequence[tuple[str, str]], texts: Texts) -> int | None:
    """Whether the title has all these words whole (0), begun (1), or not (2); None where the node has not all of them."""
    title, summary, _ = texts
    tier = 0
    for begun, whole in needed:
        if begun in title:
            if not tier and whole not in title:
                tier = 1
        elif begun in summary:
            tier = 2
        else:
            return None
    return tier


def _count(begun: str, whole: str, texts: Texts) -> float:
    """How strongly a node has a word."""
    title, summary, _ = texts
    count = TITLE_WEIGHT * _strength(begun, whole, title) if begun in title else 0.0
    return count + _strength(begun, whole, summary) if begun in summary else count


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
