"""The use case that removes a resource."""

from __future__ import annotations

from attrs import frozen

from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.ranking_index import RankingIndex
from citekit.domain.ports.tag_store import TagStore
from citekit.domain.ports.text_index import TextIndex


@frozen
class RemoveResource:
    """Removes the map of a resource, its tags, and its text in the search indexes.

    The source and the evidence are kept.
    """

    maps: MapStore
    text_index: TextIndex
    ranking_index: RankingIndex
    tags: TagStore

    def __call__(self, resource_id: str) -> None:
        """Remove the resource. Raise the errors of `MapStore.remove` and `TagStore.drop`.

        The text is removed first: after a kill in between, it is simply indexed again.
        """
        self.ranking_index.drop(resource_id)
        self.text_index.drop(resource_id)
        self.maps.remove(resource_id)
        self.tags.drop(resource_id)
