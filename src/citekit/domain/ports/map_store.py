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

    A partially written map is never visible, and no resource ID results in a path outside the store. The methods raise
    `StoreUnavailable` if the maps are in a shared store that cannot be accessed.
    """

    def ids(self) -> Sequence[str]:
        """Return the stored resource IDs, sorted, including those of damaged maps.

        Raise `MapCorrupt` if the folder of maps cannot be read.
        """

    def get(self, resource_id: str, version: str | None = None) -> ResourceMap:
        """Return the map with the given resource ID.

        If `version` is what `versions` has for the map, a shared store does not ask again whether the map is current.
        Raise `ResourceMissing` if the map does not exist, `MapCorrupt` if it is damaged or cannot be read, or
        `ResourceIdRefused` if the ID is invalid.
        """

    def cached(self, resource_id: str) -> ResourceMap | None:
        """Return the map if it is in memory and up to date, or None if the file would have to be read."""

    def cached_ids(self) -> Sequence[str] | None:
        """Return the object that the last call of `ids` returned if no map was added or removed since; otherwise None."""

    def card(self, resource_id: str) -> MapCard:
        """Return the summary of the map, without reading the nodes if it is cached.

        Raise the same errors as `get`.
        """

    def cards(self, resource_ids: Iterable[str] | None = None) -> Sequence[MapCard]:
        """Return the summaries of these or all maps, sorted by resource ID.

        Damaged maps and IDs without a map are left out. Raise `MapCorrupt` if the folder of maps cannot be read.
        """

    def versions(self) -> Mapping[str, str]:
        """Return, for each stored resource ID, a text that changes when the map changes.

        Raise `MapCorrupt` if the folder of maps cannot be read, also when the result is used.
        """

    def version(self, resource_id: str) -> str | None:
        """Return the text that `versions` has for the map, or None if the map does not exist."""

    def state(self) -> str | None:
        """Return a text that changes when a map is stored, replaced, or removed, though not always when one is edited
        in place.

        Return None if the state cannot be determined, or while a recent change might not be visible. The cost does not
        depend on the number of maps.
        """

    def put(self, resource_map: ResourceMap) -> None:
        """Store a map atomically, replacing the map with the same resource ID.

        If the replaced map was made from the same bytes by another mapper, it is kept as an edition. Raise
        `HomeUnwritable` if the store cannot be written, `FaultyAnswer` if JSON cannot represent the map, or
        `ResourceIdRefused` if the ID is invalid. The previous map is then unchanged.
        """

    def remove(self, resource_id: str) -> None:
        """Remove the map and all its editions.

        Raise `ResourceMissing` if the map does not exist, `ResourceIdRefused` if the ID is invalid, or `HomeUnwritable`
        if the store cannot be written.
        """

    def note_renamed(self, old_id: str, new_id: str) -> None:
        """Record that the map of `old_id` is stored as `new_id`, for errors about `old_id`."""

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """Return the current or a replaced map of the resource that `mapper` made, or None."""

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """Return the current map, followed by the maps of the same bytes that other mappers made.

        Raise the same errors as `get`.
        """

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """Return the digests of the files that earlier maps of this resource were made from, oldest first.

        The result is empty if the ID has no map. Raise `ResourceIdRefused` if the ID is invalid.
        """

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """Return a map, under any resource ID, that `mapper` made from the file with the digest `source`, or None if
        none is known.
        """

    def find_source(self, source_path: str) -> Sequence[str]:
        """Return the IDs of maps whose `source_path` is exactly the given path. The result can lack some of them.

        The cost does not depend on the number of maps.
        """

    def expected_at(self, resource_id: str) -> str:
        """Return the path where the map with the given ID is stored or would be stored, for messages."""
