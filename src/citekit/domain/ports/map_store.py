"""Keeps maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap


class MapStore(Protocol):
    """What is got is equal to what was put. A half-written map is never seen. No id leads outside the store."""

    def ids(self) -> Sequence[str]:
        """Every stored resource id, sorted. A file put there by hand counts; a damaged one too."""

    def get(self, resource_id: str) -> ResourceMap:
        """The map. Raises `ResourceMissing`, which says where it looked, or `MapCorrupt`."""

    def cached(self, resource_id: str) -> ResourceMap | None:
        """The map where it is in memory and getting it would give that very object; None where it would have to be read."""

    def cached_ids(self) -> Sequence[str] | None:
        """What `ids` gave the last time, the same object, where nothing has come or gone since; else None."""

    def card(self, resource_id: str) -> MapCard:
        """The map at a glance; its nodes are not read where it is known already. Raises as `get` does."""

    def cards(self) -> Sequence[MapCard]:
        """Every map at a glance, in the order of the ids; damaged ones are left out."""

    def versions(self) -> Mapping[str, str]:
        """Every stored resource id, with a text that is another one as soon as the map is.

        Costs a look at each map, but reads none.
        """

    def version(self, resource_id: str) -> str | None:
        """What `versions` says of that map, for the cost of one look; None where there is no such map."""

    def state(self) -> str | None:
        """A text that is another one as soon as any map was put, replaced or removed; costs one look, however many there are.

        A map that is edited in place may leave it as it is. None while a change might not show, or where nobody can tell.
        """

    def put(self, resource_map: ResourceMap) -> None:
        """Store or replace, in one step. A map that another mapper made of the same bytes is kept as an edition.

        Raises `HomeUnwritable`, `FaultyAnswer` for a map that JSON cannot hold.

        Where it raises, the map that was there before is untouched.
        """

    def remove(self, resource_id: str) -> None:
        """Forget the map and all of its editions. Raises `ResourceMissing`."""

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """The map of the resource that `mapper` made: the one in use, or one that another mapper's replaced. Else None."""

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """The map in use, and then those that other mappers made of the same bytes before.

        Raises `ResourceMissing`, `MapCorrupt`.
        """

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """Digests of the files that earlier maps stored under that id were of, oldest first, as far as is remembered.

        Empty for an id without a map. Raises `ResourceIdRefused`.
        """

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """A stored map of those bytes by that mapper, under whatever id, or None where none is known."""

    def find_source(self, source_path: str) -> Sequence[str]:
        """The ids of maps whose `source_path` is exactly that, as far as is remembered; costs no more for many maps.

        Each of them is right, but some may be missing: no answer does not prove that there is no such map.
        """

    def expected_at(self, resource_id: str) -> str:
        """Where the map of that id lies or would lie, for messages."""
