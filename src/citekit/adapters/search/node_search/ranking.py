"""Ranks nodes as `NodeIndex` specifies: which nodes are scored, and in what order they are returned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from citekit.domain.words import words_of

TITLE_WEIGHT = 3.0

SHORT = 32
"""Length (see `length_of`) below which a node is short."""

R = TypeVar("R")

Offer = tuple["Place", "Texts", R]
"""The position of a node, its searchable texts, and the data for the result."""

Place = tuple[int, int]
"""The position of the map of a node, and that of the node in reading order."""


class Texts(NamedTuple):
    """The words of the title and of the summary of a node, each with a space before and after it, and the node's
    length.
    """

    title: str
    summary: str
    length: float


class _Counted(NamedTuple, Generic[R]):
    """A node that is selected for scoring. `counts` has the match strength of each word of the query.

    `key` is the node's position in the order of selection.
    """

    key: tuple[int, bool, Place]
    counts: list[float]
    length: float
    node: R


def texts_of(title: str, summary: str | None) -> Texts:
    """Return the searchable text of a node with this title and summary."""
    return Texts(_spaced(words_of(title)), _spaced(words_of(summary)) if summary else "", length_of(title, summary))


def length_of(title: str, summary: str | None) -> float:
    """Return the length of a node for scoring: the characters of its title plus a quarter of its summary's."""
    return len(title) + len(summary or "") / 4


def is_short(length: float) -> bool:
    """Return whether a node of this length (see `length_of`) counts as short."""
    return length < SHORT


def left(common: Sequence[int], had: Callable[[Sequence[int]], bool]) -> Sequence[int]:
    """Return the positions of the words of a query that a node must have, rarest first.

    While no node has all of these words, the most common one is dropped. `common` contains the frequency of each word.
    `had` returns whether any node has all words at the given positions.
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
    """Return `(score, node)` of the best `limit` nodes, best first.

    At most `counted` nodes are scored, or `limit` if it is greater. `offers` returns all nodes with their positions and
    texts, and is called again if no node has all words.
    """
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
    """Counts how often each word of a query occurs in nodes, and which words occur together in a node."""

    def __init__(self, words: Sequence[str]) -> None:
        self._patterns = [f" {word}" for word in words]
        self._common = [0] * len(words)
        self._together: set[frozenset[int]] = set()

    def look(self, texts: Texts) -> None:
        """Add a node with the searchable `texts` to the counts."""
        has = frozenset(at for at, each in enumerate(self._patterns) if each in texts.title or each in texts.summary)
        if has:
            self._together.add(has)
            different = f" {'  '.join({*texts.title.split(), *texts.summary.split()})}"
            for at in has:
                self._common[at] += different.count(self._patterns[at])

    def left(self) -> Sequence[int]:
        """See the function `left`."""
        return left(self._common, self.had)

    def had(self, some: Iterable[int]) -> bool:
        """Return whether any node has all of the words at the positions `some`."""
        return any(has.issuperset(some) for has in self._together)


class Ranking(Generic[R]):
    """Selects the best `limit` of the nodes that are passed to `offer`.

    At most `counted` of these nodes are scored, or `limit` if it is greater.
    """

    def __init__(self, words: Sequence[str], needed: Iterable[int], limit: int, counted: int) -> None:
        """Start a ranking for a query with `words`. `needed` are the positions of the words that a node must have."""
        self.counted = max(counted, limit)
        self._limit = limit
        self._patterns = [(f" {word}", f" {word} ") for word in words]
        self._needed = [self._patterns[at] for at in needed]
        self._counting: list[_Counted[R]] = []

    def offer(self, place: Place, texts: Texts, node: R) -> None:
        """Add a node with its position and its searchable text. Each node must be added only once."""
        tier = _tier(self._needed, texts)
        if tier is None:
            return
        counts = [_count(begun, whole, texts) for begun, whole in self._patterns]
        key = (tier, tier < 2 and not is_short(texts.length), place)
        self._counting.append(_Counted(key, counts, texts.length, node))
        if len(self._counting) > 4 * self.counted:
            _shorten(self._counting, self.counted)

    def best(self) -> list[tuple[float, R]]:
        """Return `(score, node)` of the best nodes added so far, best first."""
        _shorten(self._counting, self.counted)
        rarity = _rarity(len(self._patterns), self._counting)
        scored = [(-_score(each, rarity), each.key[2], each.node) for each in self._counting]
        scored.sort(key=lambda each: each[:2])
        return [(-score, node) for score, _, node in scored[: self._limit]]


def _rarest_first(common: Sequence[int]) -> list[int]:
    """Return the positions of the words that occur in any node, rarest first, then in query order."""
    return sorted((at for at, number in enumerate(common) if number), key=lambda at: common[at])


def _spaced(words: Sequence[str]) -> str:
    return f" {'  '.join(words)} "


def _tier(needed: Sequence[tuple[str, str]], texts: Texts) -> int | None:
    """Return 0 if the title has all needed words as whole words, 1 if it has them at least as prefixes, and 2
    otherwise.

    Return None if the node lacks a needed word.
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
    """Return how strongly a node matches a word. Matches in the title count `TITLE_WEIGHT` times as much."""
    title, summary, _ = texts
    count = TITLE_WEIGHT * _strength(begun, whole, title) if begun in title else 0.0
    return count + _strength(begun, whole, summary) if begun in summary else count


def _strength(begun: str, whole: str, text: str) -> float:
    """Return how strongly `text` matches a word of the query that begins a word in it.

    The word itself counts 1, a longer word that begins with it counts 1/2, and both together count 1.5.
    """
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
