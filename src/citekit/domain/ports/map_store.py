"""Defines the port for the store of maps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap


class MapStore(Protocol):
    """A store of maps by resource ID. A retrieved map equals the stored one.

    A partially written map is never visible, and no resource ID can result in a path outside the store.
    """

    def ids(self) -> Sequence[str]:
        """Return every stored resource ID, sorted.

        The result includes damaged maps and files that a user put in the store. Raise `MapCorrupt` if the folder of
        maps cannot be read.
        """

    def get(self, resource_id: str) -> ResourceMap:
        """Return the map with the given resource ID.

        Raise `ResourceMissing`, which names the expected path, if the map does not exist, `MapCorrupt` if it is damaged
        or cannot be read, or `ResourceIdRefused` if the ID is invalid.
        """

    def cached(self, resource_id: str) -> ResourceMap | None:
        """Return the map if it is in memory and up to date, or None if the file would have to be read."""

    def cached_ids(self) -> Sequence[str] | None:
        """Return the result of the last call of `ids` if no map was added or removed since; otherwise None.

        The result is the same object.
        """

    def card(self, resource_id: str) -> MapCard:
        """Return the summary of the map. If the summary is cached, the nodes are not read.

        Raise the same errors as `get`.
        """

    def cards(self, resource_ids: Iterable[str] | None = None) -> Sequence[MapCard]:
        """Return the summaries of these maps, or of all maps, sorted by resource ID.

        Damaged maps and IDs without a map are left out. Raise `MapCorrupt` if the folder of maps cannot be read.
        """

    def versions(self) -> Mapping[str, str]:
        """Return, for every stored resource ID, a text that changes when the map changes.

        This method checks the status of each file without reading it. Raise `MapCorrupt` if the folder of maps cannot
        be read, also when the result is used.
        """

    def version(self, resource_id: str) -> str | None:
        """Return the text that `versions` has for the map, or None if the map does not exist.

        This checks only one file.
        """

    def state(self) -> str | None:
        """Return a text that changes when any map is stored, replaced, or removed.

        The text may stay the same if a map file is edited in place. Return None if the state cannot be determined, or
        while a recent change might not be visible. However many maps are stored, this checks only one file.
        """

    def put(self, resource_map: ResourceMap) -> None:
        """Store a map atomically, replacing the map with the same resource ID.

        If the replaced map was made from the same bytes by another mapper, it is kept as an edition. Raise
        `HomeUnwritable` if the store cannot be written, `FaultyAnswer` if JSON cannot represent the map, or
        `ResourceIdRefused` if the ID is invalid. In all these cases, the previous map is unchanged.
        """

    def remove(self, resource_id: str) -> None:
        """Remove the map and all its editions.

        Raise `ResourceMissing` if the map does not exist, `ResourceIdRefused` if the ID is invalid, or `HomeUnwritable`
        if the store cannot be written.
        """

    def note_renamed(self, old_id: str, new_id: str) -> None:
        """Record that the map of `old_id` is stored as `new_id`, so that errors about `old_id` suggest `new_id`."""

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """Return the resource's map that `mapper` made, whether it is the current map or a replaced one, or None."""

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """Return the current map, followed by the maps of the same bytes that other mappers made.

        Raise the same errors as `get`.
        """

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """Return the recorded digests of the files that earlier maps of this resource were made from, oldest first.

        The result is empty if the ID has no map. Raise `ResourceIdRefused` if the ID is invalid.
        """

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """Return a map, under any resource ID, that `mapper` made from the file with the digest `source`, or None if no
        such map is known.
        """

    def find_source(self, source_path: str) -> Sequence[str]:
        """Return the resource IDs of maps whose `source_path` is exactly the given path.

        Every ID in the result is correct, but some may be missing, so an empty result does not prove that no such map
        exists. The cost does not depend on the number of maps.
        """

    def expected_at(self, resource_id: str) -> str:
        """Return the path where the map with the given ID is stored or would be stored, for messages."""
