"""The port for the store of maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap


class MapStore(Protocol):
    """Stores maps by resource ID. A retrieved map equals the stored one.

    No partially written map is ever visible, and no ID leads outside the store.
    """

    def ids(self) -> Sequence[str]:
        """Return every stored resource ID, sorted, including files that a user put there and damaged maps."""

    def get(self, resource_id: str) -> ResourceMap:
        """Return the map. Raises `ResourceMissing`, which names the expected path, or `MapCorrupt`."""

    def cached(self, resource_id: str) -> ResourceMap | None:
        """Return the map if it is in memory and up to date; None if it would have to be read."""

    def cached_ids(self) -> Sequence[str] | None:
        """Return the result of the last `ids`, the same object, if no map was added or removed since; otherwise None."""

    def card(self, resource_id: str) -> MapCard:
        """Return the summary of the map, without reading its nodes if it is cached. Raises the same errors as `get`."""

    def cards(self) -> Sequence[MapCard]:
        """Return the summary of every map in the order of the IDs, without damaged maps."""

    def versions(self) -> Mapping[str, str]:
        """Return a text for every stored resource ID that changes when the map changes.

        Checks the status of each file, but reads none.
        """

    def version(self, resource_id: str) -> str | None:
        """Return the text that `versions` has for that map by checking one file; None if there is no such map."""

    def state(self) -> str | None:
        """Return a text that changes when any map is stored, replaced, or removed. Checks one file, however many maps
        there are.

        Editing a map in place may not change it. None while a change might not be visible, or if it cannot be
        determined.
        """

    def put(self, resource_map: ResourceMap) -> None:
        """Store or replace a map atomically. The replaced map is kept as an edition if another mapper made it of the
        same bytes.

        Raises `HomeUnwritable`, and `FaultyAnswer` for a map that JSON cannot represent. If it raises, the previous map
        is unchanged.
        """

    def remove(self, resource_id: str) -> None:
        """Remove the map and all its editions. Raises `ResourceMissing`."""

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """Return the map of the resource that `mapper` made, whether current or replaced; None if there is none."""

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """Return the current map, and then the maps of the same bytes that other mappers made.

        Raises `ResourceMissing` and `MapCorrupt`.
        """

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """Return the digests of the files of earlier maps under that ID, oldest first, as far as they are recorded.

        Empty for an ID without a map. Raises `ResourceIdRefused`.
        """

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """Return a stored map of those bytes by that mapper under any ID, or None if none is known."""

    def find_source(self, source_path: str) -> Sequence[str]:
        """Return the IDs of maps whose `source_path` is exactly that path. The cost does not depend on the number of
        maps.

        Every ID in the result is correct, but some may be missing: an empty result does not prove that there is no such
        map.
        """

    def expected_at(self, resource_id: str) -> str:
        """Return the path of the map with that ID, whether it exists or not, for messages."""
