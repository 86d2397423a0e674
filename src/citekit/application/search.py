"""Find nodes by the words of their titles and summaries, over all maps."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

from attrs import frozen

from citekit.domain.address import Address
from citekit.domain.errors import MapCorrupt, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore

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
class Search:
    """Every word of the question must begin some word of the title or the summary; case and accents do not matter.

    Ranked by how rare the words are, a title counting three times a summary, short texts above long ones.
    """

    maps: MapStore

    def __call__(self, words: str, *, limit: int = 20, resources: Sequence[str] | None = None) -> list[Hit]:
        """The best `limit` hits, best first; of equal ones in the order of the maps. Damaged maps are passed over."""
        wanted = list(dict.fromkeys(words_of(words)))
        if not wanted:
            return []
        found = [
            (resource_id, node, counts)
            for resource_id in (self.maps.ids() if resources is None else resources)
            for node in self._nodes(resource_id)
            if (counts := _matches(wanted, node)) is not None
        ]
        rarity = _rarity(wanted, [counts for _, _, counts in found])
        hits = [Hit(resource_id, node, _score(counts, rarity, node)) for resource_id, node, counts in found]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def _nodes(self, resource_id: str) -> Iterable[Node]:
        try:
            return self.maps.get(resource_id).walk()
        except (MapCorrupt, ResourceMissing):
            return ()


def words_of(text: str) -> list[str]:
    """The words of a text without case and accents."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return _WORD.findall(bare.replace("_", " "))


def _matches(wanted: Sequence[str], node: Node) -> list[float] | None:
    """For each wanted word how strongly the node has it, or None where it lacks one."""
    title, summary = words_of(f"{node.title} {node.id}"), words_of(node.summary or "")
    counts = []
    for word in wanted:
        strength = TITLE_WEIGHT * _strength(word, title) + _strength(word, summary)
        if not strength:
            return None
        counts.append(strength)
    return counts


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
