"""Find nodes by the words of their titles and summaries, over all maps."""

from __future__ import annotations

import math
import re
import unicodedata
import weakref
from collections.abc import Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap

_WORD = re.compile(r"\w+")
TITLE_WEIGHT = 3.0


@frozen
class Hit:
    """A node that was found; a higher `score` is better."""

    resource_id: str
    node: Node
    score: float

    @property
    def address(self) -> Address:
        """Where it is."""
        return Address(self.resource_id, self.node.location)


@frozen
class _Words:
    """What a node is found by."""

    node: Node
    title: tuple[str, ...]
    summary: tuple[str, ...]

    @classmethod
    def of(cls, node: Node) -> _Words:
        return cls(node, tuple(words_of(node.title)), tuple(words_of(node.summary or "")))


@frozen
class Search:
    """Every word of the question must begin some word of the title or the summary; case and accents do not matter.

    Where no node has them all, those count that have the most of them.

    Ranked by how rare the words are, a title counting three times a summary, short texts above long ones.
    """

    maps: MapStore
    _folded: dict[int, tuple[weakref.ref[ResourceMap], list[_Words]]] = field(factory=dict, init=False, repr=False)

    def __call__(self, words: str, *, limit: int = 20, resources: Sequence[str] | None = None) -> list[Hit]:
        """The best `limit` hits, best first; of equal ones in the order of the maps. Damaged maps are passed over."""
        wanted = list(dict.fromkeys(words_of(words)))
        if not wanted:
            return []
        found = self._found(wanted, resources)
        rarity = _rarity(wanted, [counts for _, _, counts in found])
        hits = [Hit(resource_id, node, _score(counts, rarity, node)) for resource_id, node, counts in found]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def _found(self, wanted: Sequence[str], resources: Sequence[str] | None) -> list[tuple[str, Node, list[float]]]:
        """(resource id, node, strength of every wanted word) of the nodes that have the most of the words."""
        best = 1
        found: list[tuple[str, Node, list[float]]] = []
        for resource_id in self.maps.ids() if resources is None else resources:
            for words in self._words(resource_id):
                counts = _matches(wanted, words)
                had = sum(count > 0 for count in counts)
                if had > best:
                    best, found = had, []
                if had == best:
                    found.append((resource_id, words.node, counts))
        return found

    def _words(self, resource_id: str) -> Sequence[_Words]:
        """The words of every node; of a map that the store keeps in memory they are told apart only once."""
        try:
            found = self.maps.get(resource_id)
        except (MapCorrupt, ResourceMissing):
            return ()
        known, words = self._folded.get(id(found), (None, []))
        if known is None or known() is not found:
            words = [_Words.of(node) for node in found.walk()]
            key = id(found)
            self._folded[key] = weakref.ref(found, lambda _: self._folded.pop(key, None) and None), words
        return words


def words_of(text: str) -> list[str]:
    """The words of a text without case and accents."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return _WORD.findall(bare.replace("_", " "))


def _matches(wanted: Sequence[str], words: _Words) -> list[float]:
    """For each wanted word how strongly the node has it."""
    return [TITLE_WEIGHT * _strength(word, words.title) + _strength(word, words.summary) for word in wanted]


def _strength(word: str, text: Sequence[str]) -> float:
    whole = sum(each == word for each in text)
    begun = sum(each.startswith(word) for each in text)
    return min(1.0, whole) + min(0.5, 0.5 * (begun - whole))


def _rarity(wanted: Sequence[str], found: Sequence[Sequence[float]]) -> list[float]:
    return [
        1 + math.log(1 + len(found) / (1 + sum(counts[n] >= TITLE_WEIGHT for counts in found)))
        for n in range(len(wanted))
    ]


def _score(counts: Sequence[float], rarity: Sequence[float], node: Node) -> float:
    length = len(node.title) + len(node.summary or "") / 4
    return sum(count * rare for count, rare in zip(counts, rarity, strict=True)) / (1 + math.log1p(length) / 10)
