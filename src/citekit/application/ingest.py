"""Map a file, once."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, frozen

from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing, SourceUnsupported
from citekit.domain.formats import Format
from citekit.domain.ids import check_resource_id, resource_id
from citekit.domain.modality import Modality
from citekit.domain.ports.locks import Locks
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.sources import Sources
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source


@frozen
class Ingested:
    """The map of a file, and whether the mapper had to run for it."""

    resource_map: ResourceMap
    mapped_now: bool


@frozen
class Ingest:
    """Turns a file into a stored map. The same bytes are not mapped twice by the same mapper."""

    sources: Sources
    maps: MapStore
    mapper: Mapper
    locks: Locks

    def __call__(
        self,
        path: Path,
        *,
        wanted_id: str | None = None,
        modality: Modality | None = None,
        force: bool = False,
        progress: Progress = silent,
    ) -> Ingested:
        """The map of the file at `path`, made now or found.

        Without `wanted_id` the id is the slug of the file's name, with `_2` and so on where that belongs to another file.
        `modality` refuses a file of any other kind; `force` maps again. Raises the errors of `Sources.identify`,
        `Mapper.map` and `MapStore.put`, and `RequestRefused` where `wanted_id` belongs to another file.
        """
        if wanted_id is not None:
            check_resource_id(wanted_id)
        source = _as_wanted(self.sources.identify(path), modality)
        if not self.mapper.supports(source.format):
            raise SourceUnsupported(
                f"The mapper {self.mapper.identity.name} cannot map {source.format.name} files: {path}"
            )
        with self.locks.holding(f"map:{source.digest}"):
            known = None if force else self._known(source, wanted_id)
            if known is not None:
                return known
            made = self.mapper.map(source, wanted_id or _default_id(source), progress)
            return Ingested(self._store(source, made, wanted_id), mapped_now=True)

    def _known(self, source: Source, wanted_id: str | None) -> Ingested | None:
        with self.locks.holding("ids"):
            place = self._place(source, wanted_id)
        here = self._stored(place)
        if here is not None and self._is_current(here, source):
            if here.source_path != str(source.path) and not self._still_there(here):
                here = evolve(here, source_path=str(source.path))
                self.maps.put(here)
            return Ingested(here, mapped_now=False)
        kept = self.maps.edition(place, self.mapper.identity)
        if kept is not None and kept.source_digest == source.digest:
            return Ingested(self._store(source, kept, wanted_id), mapped_now=False)
        twin = self.maps.find_mapped(source.digest, self.mapper.identity)
        return None if twin is None else Ingested(self._store(source, twin, wanted_id), mapped_now=False)

    def _store(self, source: Source, made: ResourceMap, wanted_id: str | None) -> ResourceMap:
        with self.locks.holding("ids"):
            place = self._place(source, wanted_id)
            stored = evolve(made, resource_id=place, source_path=str(source.path))
            self.maps.put(stored)
        return stored

    def _place(self, source: Source, wanted_id: str | None) -> str:
        """The id under which this source is, or will be, stored."""
        if wanted_id is not None:
            there = self._stored(wanted_id)
            if there is not None and not self._same_source(there, source):
                raise RequestRefused(
                    f"The id '{wanted_id}' belongs to {there.source_path}. Choose another --id, or remove that map first."
                )
            return wanted_id
        self.maps.ids()  # raises where the maps cannot be read at all: every id would seem taken, without end
        first = candidate = _default_id(source)
        number = 2
        while self._is_taken(candidate, source):
            candidate = f"{first}_{number}"
            number += 1
        return candidate

    def _is_taken(self, candidate: str, source: Source) -> bool:
        try:
            return not self._same_source(self.maps.get(candidate), source)
        except ResourceMissing:
            return False
        except MapCorrupt:
            return True  # somebody's map, which may still be mended: not ours to overwrite

    def _stored(self, candidate: str) -> ResourceMap | None:
        try:
            return self.maps.get(candidate)
        except ResourceMissing:
            return None

    def _same_source(self, there: ResourceMap, source: Source) -> bool:
        return there.source_path == str(source.path) or there.source_digest == source.digest

    def _is_current(self, there: ResourceMap, source: Source) -> bool:
        return there.source_digest == source.digest and there.mapper == self.mapper.identity

    def _still_there(self, there: ResourceMap) -> bool:
        return self.sources.digest(Path(there.source_path)) == there.source_digest


def _default_id(source: Source) -> str:
    return resource_id(source.path.name, keep_extension=source.format.modality is Modality.TEXT)


_TIMED = (Modality.VIDEO, Modality.AUDIO)


def _as_wanted(source: Source, modality: Modality | None) -> Source:
    found: Format = source.format
    if modality is None or modality is found.modality:
        return source
    if modality in _TIMED and found.modality in _TIMED:
        return evolve(source, format=evolve(found, modality=modality))
    raise SourceUnsupported(f"{source.path} is {found.name} ({found.modality}), not {modality}: leave --type out.")
