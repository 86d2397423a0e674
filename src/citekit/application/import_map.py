"""Turns a structure that another program found into a map, and stores it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from citekit.application.source_access import UNRESTRICTED
from citekit.domain.errors import FaultyAnswer, MapCorrupt, RequestRefused, ResourceMissing
from citekit.domain.extent import extent_metadata, with_extent_metadata
from citekit.domain.ids import check_resource_id, resource_id
from citekit.domain.locations import Virtual
from citekit.domain.ports.folders import Folders
from citekit.domain.ports.locks import Locks
from citekit.domain.ports.map_adapter import MapAdapter
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.measurer import Measurer
from citekit.domain.ports.sources import Sources
from citekit.domain.resource_map import IMPORTED_FROM, ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import map_issues


@frozen
class ImportedMap:
    """An imported map. `located` is the number of nodes with a location in a file; the others are virtual."""

    resource_map: ResourceMap
    located: int


@frozen
class ImportMap:
    """Validates an adapter's map against the source file, and stores it. `facts` is the mapper that supplies metadata
    of the file.
    """

    sources: Sources
    maps: MapStore
    facts: Mapper
    locks: Locks
    measurer: Measurer
    folders: Folders = UNRESTRICTED

    def __call__(
        self,
        data: Path,
        adapter: MapAdapter,
        *,
        wanted_id: str | None = None,
        source: Path | None = None,
        force: bool = False,
    ) -> ImportedMap:
        """Import the file or folder `data`, and store the map.

        Without `wanted_id`, the ID is the one in the data, else the slug of the name of `data`, with a number if
        another map has it. A map of the same data under the same ID is replaced; with `force`, any map. Raise the
        errors of `made` and `MapStore.put`, and, without `force`, `RequestRefused` if another map has the ID
        `wanted_id`, and `MapCorrupt` if that map is damaged.
        """
        made = self.made(data, adapter, wanted_id=wanted_id, source=source)
        with self.locks.holding("ids"):
            place = self._place(made.resource_map, wanted_id, force)
            stored = evolve(made.resource_map, resource_id=place)
            self.maps.put(stored)
        if source is not None:
            self.folders.remember(source)  # only a path from the caller is trusted, not one from the data
        return evolve(made, resource_map=stored)

    def made(
        self, data: Path, adapter: MapAdapter, *, wanted_id: str | None = None, source: Path | None = None
    ) -> ImportedMap:
        """Import the file or folder `data` without storing the map.

        Raise the errors of `MapAdapter.adapt`, `Sources.identify`, `Measurer.measure`, and `Mapper.map`,
        `ResourceIdRefused` for an invalid ID, and `FaultyAnswer` if the map has faults.
        """
        here = data.absolute()
        identifier = check_resource_id(wanted_id) if wanted_id is not None else resource_id(here.name)
        known = None if source is None else self.sources.identify(source)
        made = adapter.adapt(data, identifier, known)
        metadata = {**self._measured(made, known), **self._facts(made, known)}
        metadata |= {IMPORTED_FROM: str(here), "mapper": adapter.identity.to_metadata()}
        made = evolve(made, resource_id=wanted_id or check_resource_id(made.resource_id), metadata=metadata)
        faults = map_issues(made)
        if faults:
            raise FaultyAnswer(
                f"The map that the adapter {adapter.identity.name} made from {data} is not valid", faults
            )
        located = sum(not isinstance(node.location, Virtual) for node in made.walk())
        return ImportedMap(made, located)

    def _measured(self, made: ResourceMap, source: Source | None) -> Mapping[str, object]:
        """Return the metadata, with the extent measured in the source, if there is one."""
        if source is None:
            return made.metadata
        return with_extent_metadata(made.metadata, extent_metadata(self.measurer.measure(source)))

    def _facts(self, made: ResourceMap, source: Source | None) -> Mapping[str, object]:
        """Return the metadata of the source that replaces the adapter's; none if the adapter read the same bytes."""
        if source is None or made.source_digest == source.digest:
            return {}
        told = self.facts.map(source, made.resource_id).metadata
        return {name: value for name, value in told.items() if name not in ("notes", "mapper")}

    def _place(self, made: ResourceMap, wanted_id: str | None, force: bool) -> str:
        """Return the ID under which the map is, or will be, stored."""
        if force:
            return made.resource_id
        if wanted_id is not None:
            there = self._stored(wanted_id)
            if there is not None and not _same_origin(there, made):
                raise RequestRefused(
                    f"The ID '{wanted_id}' belongs to the map of {there.source_path or there.title}. "
                    "Choose another ID, remove that map first, or replace it (--force, or force=True in Python)."
                )
            return wanted_id
        candidate, number = made.resource_id, 1
        taken = set(self.maps.ids())
        while candidate in taken and not self._is_ours(candidate, made):
            number += 1
            candidate = f"{made.resource_id}_{number}"
        return candidate

    def _stored(self, name: str) -> ResourceMap | None:
        try:
            return self.maps.get(name)
        except ResourceMissing:
            return None

    def _is_ours(self, name: str, made: ResourceMap) -> bool:
        try:
            return _same_origin(self.maps.get(name), made)
        except (ResourceMissing, MapCorrupt):
            return False  # do not overwrite an unreadable map: it may be repairable


def _same_origin(there: ResourceMap, made: ResourceMap) -> bool:
    return there.metadata.get(IMPORTED_FROM) == made.metadata.get(IMPORTED_FROM)
