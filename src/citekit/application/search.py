"""Finds nodes in all maps by words in their titles and summaries."""

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
    """A node that a search found."""

    found: FoundNode
    _maps: MapStore = field(repr=False, eq=False)

    @property
    def resource_id(self) -> str:
        """The ID of the map that contains the node."""
        return self.found.resource_id

    @property
    def score(self) -> float:
        """The relevance of the node. Higher is better. Scores are comparable only within the results of one search."""
        return self.found.score

    @property
    def head(self) -> Node:
        """The node without its children: its ID, title, type, location, and summary."""
        return self.found.head

    @property
    def node(self) -> Node:
        """The node with its children, for which the map may be read.

        Raises `ResourceMissing`, `MapCorrupt`, or `NodeMissing` if the map was removed, damaged, or changed since the
        search.
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
    """Finds nodes whose title or summary has, for each query word, a word that begins with it. Case and accents are
    ignored.

    Query words that no node contains are ignored. If no node matches all of the others, the most common words are
    ignored until one matches. Rare words, titles, and short texts rank higher; see `NodeIndex`.
    """

    maps: MapStore
    nodes: NodeIndex

    def __call__(self, words: str, *, limit: int = 20, resources: Sequence[str] | None = None) -> list[Hit]:
        """Return at most `limit` matching nodes, best first.

        `resources` restricts the search to the maps with these IDs (None: all). Damaged maps are skipped.
        """
        wanted = list(dict.fromkeys(words_of(words)))
        if not wanted or limit < 1:
            return []
        return [Hit(found, self.maps) for found in self.nodes.best(wanted, limit=limit, resources=resources)]
