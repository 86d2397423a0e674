"""The ranking of `NodeIndex`, which all adapters share: which nodes are considered, and in what order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from citekit.domain.words import words_of

COUNTED = 500
"""Maximum number of nodes that are considered."""

TITLE_WEIGHT = 3.0

SHORT = 32
"""Length below which a node is short."""

R = TypeVar("R")

Offer = tuple["Place", "Texts", R]
"""The position of a node, its searchable texts, and the data for the result."""

Place = tuple[int, int]
"""The position of a node in the order of maps and of reading."""


class Texts(NamedTuple):
    """The searchable texts of a node: the words of its title and summary, each enclosed in spaces, and its length."""

    title: str
    summary: str
    length: float


class _Counted(NamedTuple, Generic[R]):
    """A node that is among the considered ones so far."""

    key: tuple[int, bool, Place]
    counts: list[float]
    length: float
    node: R


def texts_of(title: str, summary: str | None) -> Texts:
    """Return the searchable texts of a node."""
    return Texts(_spaced(words_of(title)), _spaced(words_of(summary)) if summary else "", length_of(title, summary))


def length_of(title: str, summary: str | None) -> float:
    """Return the length of the title plus a quarter of the length of the summary, in characters."""
    return len(title) + len(summary or "") / 4


def is_short(length: float) -> bool:
    """Return whether a node of that length is short."""
    return length < SHORT


def left(common: Sequence[int], had: Callable[[Sequence[int]], bool]) -> Sequence[int]:
    """Return which words of a query a node must have, as positions, rarest first.

    While no node has all of them, the most common word is dropped. `common` gives the frequency of each word, and `had`
    returns whether any node has all of the given words.
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
    """Return `(score, node)` of the best nodes, best first. `offers` is called again if no node has all words."""
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
    """Counts how common each word of a query is, and which words occur together in a node."""

    def __init__(self, words: Sequence[str]) -> None:
        self._patterns = [f" {word}" for word in words]
        self._common = [0] * len(words)
        self._together: set[frozenset[int]] = set()

    def look(self, texts: Texts) -> None:
        """Add a node to the counts."""
        has = frozenset(at for at, each in enumerate(self._patterns) if each in texts.title or each in texts.summary)
        if has:
            self._together.add(has)
            different = f" {'  '.join({*texts.title.split(), *texts.summary.split()})}"
            for at in has:
                self._common[at] += different.count(self._patterns[at])

    def left(self) -> Sequence[int]:
        """Return which words a node must have, according to `left`."""
        return left(self._common, self.had)

    def had(self, some: Iterable[int]) -> bool:
        """Return whether any node has all of these words."""
        return any(has.issuperset(some) for has in self._together)


class Ranking(Generic[R]):
    """Selects the best of the offered nodes. Holds at most a few times `counted` nodes in memory."""

    def __init__(self, words: Sequence[str], needed: Iterable[int], limit: int, counted: int = COUNTED) -> None:
        """`needed` has the positions of the words that a node must have."""
        self.counted = max(counted, limit)
        self._limit = limit
        self._patterns = [(f" {word}", f" {word} ") for word in words]
        self._needed = [self._patterns[at] for at in needed]
        self._counting: list[_Counted[R]] = []

    def offer(self, place: Place, texts: Texts, node: R) -> None:
        """Add a node. Add each node only once."""
        tier = _tier(self._needed, texts)
        if tier is None:
            return
        counts = [_count(begun, whole, texts) for begun, whole in self._patterns]
        key = (tier, tier < 2 and not is_short(texts.length), place)
        self._counting.append(_Counted(key, counts, texts.length, node))
        if len(self._counting) > 4 * self.counted:
            _shorten(self._counting, self.counted)

    def best(self) -> list[tuple[float, R]]:
        """Return `(score, node)` of the best nodes, best first."""
        _shorten(self._counting, self.counted)
        rarity = _rarity(len(self._patterns), self._counting)
        scored = [(-_score(each, rarity), each.key[2], each.node) for each in self._counting]
        scored.sort(key=lambda each: each[:2])
        return [(-score, node) for score, _, node in scored[: self._limit]]


def _rarest_first(common: Sequence[int]) -> list[int]:
    """Return the positions of the words that occur in any node, rarest first, and equally common ones in query order."""
    return sorted((at for at, number in enumerate(common) if number), key=lambda at: common[at])


def _spaced(words: Sequence[str]) -> str:
    return f" {'  '.join(words)} "


def _tier(needed: Sequence[tuple[str, str]], texts: Texts) -> int | None:
    """Return 0 if the title has all these words, 1 if it has them as prefixes, else 2; None if the node lacks any of
    them.
    """
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
    """Return how strongly a node matches a word."""
    title, summary, _ = texts
    count = TITLE_WEIGHT * _strength(begun, whole, title) if begun in title else 0.0
    return count + _strength(begun, whole, summary) if begun in summary else count


def _strength(begun: str, whole: str, text: str) -> float:
    """Return 1 for the whole word, 1/2 for a word with that prefix, else 0."""
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
