"""Map a file, once."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, field, frozen

from citekit.application.naming import ChooseId, default_id
from citekit.domain.errors import MapCorrupt, ResourceMissing, SourceChanged, SourceUnsupported
from citekit.domain.ids import check_resource_id
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
class _Task:
    """One file to be mapped: `beside` are the digests of the other files that its map depends on, by their names."""

    source: Source
    wanted_id: str | None
    modality: Modality | None
    force: bool
    beside: dict[str, str] = field(factory=dict)


@frozen
class Ingest:
    """Turns a file into a stored map. The same bytes are not mapped twice by the same mapper."""

    sources: Sources
    maps: MapStore
    mapper: Mapper
    locks: Locks
    choose_id: ChooseId

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
        `modality` refuses a file of any other kind; `force` maps again, and overwrites a damaged map. Raises the errors of
        `Sources.identify`, `Mapper.map`, `ChooseId` and `MapStore.put`, and `SourceChanged` where the file was changed
        while it was mapped.
        """
        if wanted_id is not None:
            check_resource_id(wanted_id)
        source = self.sources.identify(path)
        if not self.mapper.supports(source.format):
            raise SourceUnsupported(
                f"The mapper {self.mapper.identity.name} cannot map {source.format.name} files: {path}"
            )
        _check_kind(source, modality)
        task = _Task(source, wanted_id, modality, force, self._beside(source))
        with self.locks.holding(f"map:{source.digest}"):
            found = None if force else self._known(task)
            return found or Ingested(self._map(task, progress), mapped_now=True)

    def _beside(self, source: Source) -> dict[str, str]:
        digests = ((path.name, self.sources.digest(path)) for path in self.mapper.beside(source))
        return {name: digest.hex for name, digest in digests if digest is not None}

    def _map(self, task: _Task, progress: Progress) -> ResourceMap:
        source = task.source
        made = self.mapper.map(source, task.wanted_id or default_id(source), progress)
        if not self.sources.still(source):
            raise SourceChanged(made.resource_id, str(source.path))
        if task.modality not in (None, made.modality):
            raise SourceUnsupported(_other_kind(source, made.modality, task.modality))
        if task.beside:
            made = evolve(made, metadata={**made.metadata, "beside": task.beside})
        return self._store(task, made)

    def _known(self, task: _Task) -> Ingested | None:
        """The map that is there already: under the file's id, as an edition, or of the same bytes elsewhere."""
        with self.locks.holding("ids"):
            place = self.choose_id(task.source, task.wanted_id)
        here = self._stored(place)
        if here is not None and self._fits(here, task):
            if here.source_path != str(task.source.path) and not self._still_there(here):
                here = evolve(here, source_path=str(task.source.path))
                self.maps.put(here)
            return Ingested(here, mapped_now=False)
        for other in (
            self.maps.edition(place, self.mapper.identity),
            self.maps.find_mapped(task.source.digest, self.mapper.identity),
        ):
            if other is not None and self._fits(other, task):
                return Ingested(self._store(task, _retitled(other, task.source)), mapped_now=False)
        return None

    def _fits(self, there: ResourceMap, task: _Task) -> bool:
        """Whether that map is what the mapper would make now."""
        return (
            there.source_digest == task.source.digest
            and self.mapper.identity in (there.mapper, there.structure_by)
            and there.metadata.get("format", task.source.format.name) == task.source.format.name
            and there.metadata.get("beside", {}) == task.beside
            and task.modality in (None, there.modality)
        )

    def _store(self, task: _Task, made: ResourceMap) -> ResourceMap:
        with self.locks.holding("ids"):
            place = self.choose_id(task.source, task.wanted_id, force=task.force)
            stored = evolve(made, resource_id=place, source_path=str(task.source.path))
            self.maps.put(stored)
        return stored

    def _stored(self, place: str) -> ResourceMap | None:
        try:
            return self.maps.get(place)
        except (ResourceMissing, MapCorrupt):
            return None

    def _still_there(self, there: ResourceMap) -> bool:
        return self.sources.digest(Path(there.source_path)) == there.source_digest


_TIMED = (Modality.VIDEO, Modality.AUDIO)


def _check_kind(source: Source, modality: Modality | None) -> None:
    """Video and audio files are told apart only by what is in them: the map says which they are."""
    found = source.format.modality
    if modality not in (None, found) and not (modality in _TIMED and found in _TIMED):
        raise SourceUnsupported(_other_kind(source, found, modality))


def _other_kind(source: Source, found: Modality, wanted: Modality | None) -> str:
    return f"{source.path} is {source.format.name} ({found}), not {wanted}: leave --type out."


def _retitled(other: ResourceMap, source: Source) -> ResourceMap:
    """A copy's title: that of the content, but where it was the other file's name, this one's."""
    return evolve(other, title=source.path.stem) if other.title == Path(other.source_path).stem else other
