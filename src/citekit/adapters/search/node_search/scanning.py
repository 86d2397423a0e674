"""A node search without an index. It reads the maps for each query, so its cost grows with the number of nodes."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from functools import partial

from attrs import evolve, field, frozen

from citekit.adapters.search.node_search.ranking import Offer, Texts, ranked, texts_of
from citekit.domain.errors import MapCorrupt, ResourceIdRefused, ResourceMissing
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import SCORED, FoundNode
from citekit.domain.resource_map import ResourceMap


@frozen
class ScanningNodeIndex:
    """A `NodeIndex` that reads the maps for each query.

    The words of a map are cached as long as the map is in memory.
    """

    maps: MapStore
    _texts: dict[int, tuple[weakref.ref[ResourceMap], list[tuple[Texts, Node]]]] = field(
        factory=dict, init=False, repr=False
    )

    def best(
        self, words: Sequence[str], *, limit: int, resources: Sequence[str] | None = None, scored: int = SCORED
    ) -> Sequence[FoundNode]:
        """See `NodeIndex.best`."""
        if not words:
            return []
        wanted = self.maps.ids() if resources is None else list(dict.fromkeys(resources))
        best = ranked(words, partial(self._offers, wanted), limit, scored)
        return [
            FoundNode(resource_id, evolve(node, children=()), not node.children, score)
            for score, (resource_id, node) in best
        ]

    def _offers(self, resources: Sequence[str]) -> Iterator[Offer[tuple[str, Node]]]:
        """Yield the position, the searchable text, and the data of every node of the maps `resources`."""
        for order, resource_id in enumerate(resources):
            for position, (texts, node) in enumerate(self._read(resource_id)):
                yield (order, position), texts, (resource_id, node)

    def _read(self, resource_id: str) -> Sequence[tuple[Texts, Node]]:
        """Return each node of a map with its searchable text; nothing if the map is missing or damaged."""
        try:
            found = self.maps.get(resource_id)
        except (MapCorrupt, ResourceMissing, ResourceIdRefused):
            return ()
        key = id(found)
        known, texts = self._texts.get(key, (None, []))
        if known is None or known() is not found:
            texts = [(texts_of(node.title, node.summary), node) for node in found.walk()]
            self._texts[key] = weakref.ref(found, lambda _: self._texts.pop(key, None) and None), texts
        return texts
