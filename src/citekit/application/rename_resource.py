"""The use case that gives a resource another ID."""

from __future__ import annotations

from shlex import quote

from attrs import evolve, frozen

from citekit.application.remove_resource import RemoveResource
from citekit.domain.chunks import is_chunk
from citekit.domain.errors import RequestRefused, ResourceMissing
from citekit.domain.ids import check_resource_id
from citekit.domain.ports.locks import Locks
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.tag_store import TagStore
from citekit.domain.resource_map import ResourceMap


@frozen
class RenameResource:
    """Stores a map, its editions, and its tags under another ID.

    Evidence and receipts stay valid, because evidence is found by the content of the source. A request for the old ID
    fails with a message that names the new one.
    """

    maps: MapStore
    tags: TagStore
    locks: Locks
    remove: RemoveResource

    def __call__(self, resource_id: str, new_id: str) -> ResourceMap:
        """Rename the resource and return its map.

        Raise `ResourceMissing` if no resource has the ID `resource_id`, `MapCorrupt` if its map, or one that already
        has the ID `new_id`, is damaged, `ResourceIdRefused` if `new_id` cannot be an ID, `RequestRefused` if `new_id`
        is taken or the resource is a book of the library, and the errors of writing maps and tags. After a kill, both
        IDs may have the map.
        """
        check_resource_id(new_id)
        with self.locks.holding("ids"):
            editions = self.maps.editions(resource_id)
            if resource_id == new_id:
                return editions[0]
            if any(map(is_chunk, editions[0].walk())):
                raise RequestRefused(
                    f"'{resource_id}' is a library book and cannot be renamed, because its passages are stored under "
                    f"this ID. Remove it from the library (citekit library remove {quote(resource_id)}), rename it, and "
                    "ingest its file into the library again."
                )
            if self._exists(new_id):
                raise RequestRefused(f"The ID '{new_id}' is taken. Choose another ID, or remove the map that has it.")
            for each in reversed(editions):  # the current map last: the others stay its editions
                self.maps.put(evolve(each, resource_id=new_id))
            self.tags.change([new_id], add=self.tags.all().get(resource_id, ()))
            self.remove(resource_id)
            self.maps.note_renamed(resource_id, new_id)
        return self.maps.get(new_id)

    def _exists(self, resource_id: str) -> bool:
        try:
            self.maps.card(resource_id)
        except ResourceMissing:
            return False
        return True
