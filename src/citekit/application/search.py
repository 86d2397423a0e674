"""Finds nodes in all maps by the words of their titles and summaries."""

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
    """A node that was found. A higher `score` is better."""

    found: FoundNode
    _maps: MapStore = field(repr=False, eq=False)

    @property
    def resource_id(self) -> str:
        """The ID of the map that contains it."""
        return self.found.resource_id

    @property
    def score(self) -> float:
        """The relevance. Comparable only within one answer."""
        return self.found.score

    @property
    def head(self) -> Node:
        """The node without its children: its ID, title, type, location, and summary."""
        return self.found.head

    @property
    def node(self) -> Node:
        """The node with its children; reads the map.

        Raise `ResourceMissing`, `MapCorrupt`, or `NodeMissing` if the map has changed since the search.
        """
        if self.found.is_leaf:
            return self.found.head
        return self._maps.get(self.resource_id).find(self.head.id)

    @property
    def address(self) -> Address:
        """The address of the node."""
        return Address(self.resource_id, self.head.location)


@frozen
class Search:
    """Finds nodes whose title or summary contains words that begin with each query word. Case and accents do not
    matter.

    Words that no node contains are ignored. If no node contains all of the others, the most common one is ignored, then
    the next.

    Results are ranked by the rarity of the words. A title counts three times as much as a summary, and short texts rank
    above long ones; see `NodeIndex`.
    """

    maps: MapStore
    nodes: NodeIndex

    def __call__(self, words: str, *, limit: int = 20, resources: Sequence[str] | None = None) -> list[Hit]:
        """Return the best `limit` hits, best first; ties are in the order of the maps. Damaged maps are skipped."""
        wanted = list(dict.fromkeys(words_of(words)))
        if not wanted or limit < 1:
            return []
        return [Hit(found, self.maps) for found in self.nodes.best(wanted, limit=limit, resources=resources)]
