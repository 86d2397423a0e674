"""Find nodes by the words of their titles and summaries, over all maps."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from citekit.domain.address import Address
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import FoundNode, NodeIndex
from citekit.domain.words import words_of


@frozen
class Hit:
    """A node that was found; a higher `score` is better."""

    found: FoundNode
    _maps: MapStore = field(repr=False, eq=False)

    @property
    def resource_id(self) -> str:
        """The map that it is in."""
        return self.found.resource_id

    @property
    def score(self) -> float:
        """How well it fits; only compared with the others of the same answer."""
        return self.found.score

    @property
    def head(self) -> Node:
        """The node without its children: its id, title, type, place and summary."""
        return self.found.head

    @property
    def node(self) -> Node:
        """The node with its children, for which its map is read now.

        Raises `ResourceMissing`, `MapCorrupt` or `NodeMissing` where somebody changed the map since it was found.
        """
        if self.found.is_leaf:
            return self.found.head
        return self._maps.get(self.resource_id).find(self.head.id)

    @property
    def address(self) -> Address:
        """Where it is."""
        return Address(self.resource_id, self.head.location)


@frozen
class Search:
    """Every word of the question must begin some word of the title or the summary; case and accents do not matter.

    Words that no node has are left out; where no node has all of the others, the most common one is, then the next.

    Ranked by how rare the words are, a title counting three times a summary, short texts above long ones: `NodeIndex` says
    the rule.
    """

    maps: MapStore
    nodes: NodeIndex

    def __call__(self, words: str, *, limit: int = 20, resources: Sequence[str] | None = None) -> list[Hit]:
        """The best `limit` hits, best first; of equal ones in the order of the maps. Damaged maps are passed over."""
        wanted = list(dict.fromkeys(words_of(words)))
        if not wanted or limit < 1:
            return []
        return [Hit(found, self.maps) for found in self.nodes.best(wanted, limit=limit, resources=resources)]
