"""Maps a file, unless a current map of it exists."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from shlex import quote
from typing import Self

from attrs import evolve, field, frozen

from citekit.application.resource_ids import ChooseId, Place, default_id
from citekit.application.source_access import UNRESTRICTED, assert_unchanged
from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing, SourceUnsupported
from citekit.domain.ids import check_resource_id
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import EDITED
from citekit.domain.modality import RECORDINGS, Modality
from citekit.domain.ports.folders import Folders
from citekit.domain.ports.locks import Locks, report_waiting
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.mapper import Mapper
from citekit.domain.ports.remote_files import RemoteFiles
from citekit.domain.ports.sources import Sources
from citekit.domain.progress import Progress, silent
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

_WAITING = "waiting for another process that is mapping the same file"
_WAITING_TO_STORE = "waiting for another process that is storing a map"


@frozen
class Ingested:
    """The result of an ingest: a summary of the map, and whether the mapper had to run."""

    card: MapCard
    mapped_now: bool
    _read: Callable[[], ResourceMap] = field(eq=False, repr=False)

    @cached_property
    def resource_map(self) -> ResourceMap:
        """The map. An existing map is read on first access. Raise the errors of `MapStore.get`."""
        return self._read()

    @classmethod
    def of(cls, resource_map: ResourceMap, *, mapped_now: bool) -> Self:
        """Return the result for a map that is in memory."""
        return cls(resource_map.card(), mapped_now, lambda: resource_map)


@frozen
class _Task:
    """One file to be mapped. `sidecar_files` are the digests of the other files that the map depends on, by name."""

    source: Source
    wanted_id: str | None
    modality: Modality | None
    force: bool
    sidecar_files: dict[str, str] = field(factory=dict)


@frozen
class Ingest:
    """Turns a file into a stored map. Without `force`, the same mapper does not map the same bytes twice.

    `forget_refusals` deletes the record that a file exceeded its resource budget. With `keep_other_maps`, as for
    agents, a map by another mapper, such as a model, is replaced only with `force`. Without `force`, it is returned if
    the file is unchanged; otherwise, the request is refused. `remote` fetches files in buckets and on web servers.
    """

    sources: Sources
    maps: MapStore
    mapper: Mapper
    locks: Locks
    choose_id: ChooseId
    folders: Folders = UNRESTRICTED
    forget_refusals: Callable[[Path], object] = lambda _: None
    keep_other_maps: bool = False
    remote: RemoteFiles | None = None

    def __call__(
        self,
        path: Path,
        *,
        wanted_id: str | None = None,
        modality: Modality | None = None,
        force: bool = False,
        named: bool = True,
        progress: Progress = silent,
    ) -> Ingested:
        """Map the file at `path`, or return its current map.

        Without `wanted_id`, the ID is the slug of the file name, or a different one (`ChooseId`) if another file has
        it. A `modality` rejects files of any other kind. `force` maps again, even a file that exceeded its resource
        budget, and overwrites a damaged map. `named` is false if the path comes from a map and not from the user; such
        a file is not remembered in `folders`. Raise the errors of `Sources.identify`, `Mapper.map`, `ChooseId`,
        `MapStore.put`, and `RemoteFiles.fetch`, `ResourceIdRefused` if `wanted_id` is invalid, `SourceUnsupported` if
        the mapper does not support the format or the modality differs, `PathNotAllowed` for a sidecar file outside the
        allowed folders, `RequestRefused` if a map by another mapper is kept, and `SourceChanged` if the file changes.
        """
        if wanted_id is not None:
            check_resource_id(wanted_id)
        if self.remote is not None and self.remote.holds(path):
            known = None if force else self._known_remote(self.remote, path, modality)
            if known is not None:
                return known
            self.remote.fetch(path)
        source = self.sources.identify(path)
        if not self.mapper.supports(source.format):
            raise SourceUnsupported(
                f"The mapper {self.mapper.identity.name} cannot map {source.format.name} files: {path}. "
                "Choose another mapper (CITEKIT_MAPPER, or citekit ingest --mapper)."
            )
        _check_kind(source, modality)
        if force:
            self.forget_refusals(source.path)
        task = _Task(source, wanted_id, modality, force, self._beside(source))
        found = None if force else self.choose_id.place(source, wanted_id)
        unchanged = found and self._unchanged(found, task)
        ingested = unchanged or self._in_turn(task, progress, is_new=found is not None and found.card is None)
        if named:
            self.folders.remember(source.path)
        return ingested

    def _known_remote(self, remote: RemoteFiles, path: Path, modality: Modality | None) -> Ingested | None:
        """Return the map of a remote file if its version shows, without fetching it, that it is unchanged; else None.

        Maps by another mapper, and maps that depend on sidecar files, are ignored.
        """
        digest = remote.unchanged(path)
        mapper = self.mapper.identity
        for name in () if digest is None else self.maps.find_source(str(path)):
            with suppress(ResourceMissing, MapCorrupt):
                card = self.maps.card(name)
                is_current = card.source_hash == digest and not card.sidecar_files
                if is_current and card.mapper == (mapper.name, mapper.model, mapper.version):
                    return (
                        Ingested(card, False, partial(self.maps.get, name)) if modality in (None, card.type) else None
                    )
        return None

    def _in_turn(self, task: _Task, progress: Progress, *, is_new: bool) -> Ingested:
        with self.locks.holding(f"map:{task.source.digest}", report_waiting(progress, _WAITING)):
            found = None if task.force else self._known(task, progress, is_new=is_new)
            return found or Ingested.of(self._map(task, progress), mapped_now=True)

    def _beside(self, source: Source) -> dict[str, str]:
        """Return the digests of the sidecar files that the mapper reads, by name. Raise `PathNotAllowed` if one is not
        allowed.
        """
        beside = self.mapper.sidecar_files(source)
        for path in beside:
            self.folders.check(path)
        digests = ((path.name, self.sources.digest(path)) for path in beside)
        return {name: digest.hex for name, digest in digests if digest is not None}

    def _map(self, task: _Task, progress: Progress) -> ResourceMap:
        source = task.source
        wanted = task.wanted_id or default_id(source)
        with assert_unchanged(self.sources, source, wanted, mapping=True):
            made = self.mapper.map(source, wanted, progress)
        if task.modality not in (None, made.modality):
            raise SourceUnsupported(_other_kind(source, made.modality, task.modality))
        if task.sidecar_files:
            made = evolve(made, metadata={**made.metadata, "beside": task.sidecar_files})
        return self._store(task, made, progress)

    def _unchanged(self, found: Place, task: _Task) -> Ingested | None:
        """Return the current map if nothing has to be written, else None.

        Raise `RequestRefused` if a map by another mapper is kept. No lock is needed: maps are replaced atomically.
        """
        place, here = found
        if here is not None and self.keep_other_maps and not self._is_made_by_mapper(here):
            return self._of_other_mapper(place, here, task)
        if here is None or not self._fits(here, task) or self._has_moved(here, task):
            return None
        return Ingested(here, False, partial(self.maps.get, place))

    def _known(self, task: _Task, progress: Progress, *, is_new: bool) -> Ingested | None:
        """Return a current map: under the file's ID, an edition of it, or a map of the same bytes under another ID.

        Return None if there is none. `is_new` says that the file's ID had no map, which saves requests to the store.
        """
        same = self.maps.find_mapped(task.source.digest, self.mapper.identity)
        if same is None and is_new:
            return None
        with self.locks.holding("ids", report_waiting(progress, _WAITING_TO_STORE)):
            place, here = self.choose_id.place(task.source, task.wanted_id)
        if here is not None and self._fits(here, task):
            return self._followed(place, here, task)
        if same is not None and here is None and task.wanted_id is None and self._was_renamed(same.card(), task):
            return self._followed(same.resource_id, same.card(), task)
        for other in (self.maps.edition(place, self.mapper.identity), same):
            if other is not None and self._fits(other.card(), task):
                return Ingested.of(self._store(task, _retitled(other, task.source), progress), mapped_now=False)
        return None

    def _followed(self, place: str, here: MapCard, task: _Task) -> Ingested | None:
        """Return the map, stored with the new path of its file if that has moved; None if it is missing or damaged."""
        if not self._has_moved(here, task):
            return Ingested(here, False, partial(self.maps.get, place))
        with suppress(ResourceMissing, MapCorrupt):
            moved = evolve(self.maps.get(place), source_path=str(task.source.path))
            self.maps.put(moved)
            return Ingested.of(moved, mapped_now=False)
        return None

    def _was_renamed(self, there: MapCard, task: _Task) -> bool:
        """Return whether the map describes this file, perhaps under an earlier name. The map then keeps its ID and
        addresses.
        """
        is_at = there.source_path == str(task.source.path)
        return self._fits(there, task) and (is_at or self.sources.digest(Path(there.source_path)) is None)

    def _has_moved(self, here: MapCard, task: _Task) -> bool:
        """Return whether the file is no longer at the path in the map."""
        if here.source_path == str(task.source.path):
            return False
        there = self.sources.digest(Path(here.source_path))
        return there is None or there.hex != here.source_hash

    def _fits(self, there: MapCard, task: _Task) -> bool:
        """Return whether the map is the one that the mapper would make, or a person's correction of its map."""
        mapper = self.mapper.identity
        return (
            there.source_hash == task.source.digest.hex
            and (
                (mapper.name, mapper.model, mapper.version) in (there.mapper, there.structure_by)
                or self._is_edited(there)
            )
            and there.format in (None, task.source.format.name)
            and there.sidecar_files == task.sidecar_files
            and task.modality in (None, there.type)
        )

    def _is_edited(self, there: MapCard) -> bool:
        """Return whether a person corrected a map of any version of this mapper."""
        return there.mapper == (EDITED.name, EDITED.model, EDITED.version) and self._is_made_by_mapper(there)

    def _is_made_by_mapper(self, there: MapCard) -> bool:
        """Return whether any version of the mapper made the nodes of the map."""
        return self.mapper.identity.name in {made_by[0] for made_by in (there.mapper, there.structure_by) if made_by}

    def _of_other_mapper(self, place: str, here: MapCard, task: _Task) -> Ingested:
        if here.source_hash != task.source.digest.hex:
            raise RequestRefused(
                f"{task.source.path} has changed since another mapper made its map '{place}', and that map is kept. "
                f"The owner of the file can map it again with this command: citekit ingest {quote(str(task.source.path))} "
                f"--id {quote(place)} --home {quote(str(self.choose_id.home.absolute()))}"
            )
        return Ingested(here, False, partial(self.maps.get, place))

    def _store(self, task: _Task, made: ResourceMap, progress: Progress) -> ResourceMap:
        with self.locks.holding("ids", report_waiting(progress, _WAITING_TO_STORE)):
            place, here = self.choose_id.place(task.source, task.wanted_id, force=task.force)
            if here is not None and not task.force and self._fits(here, task) and not self._has_moved(here, task):
                return self.maps.get(place)  # another machine stored it while this one mapped
            stored = evolve(made, resource_id=place, source_path=str(task.source.path))
            self.maps.put(stored)
        return stored


def _check_kind(source: Source, modality: Modality | None) -> None:
    """Raise `SourceUnsupported` if the file has another modality.

    Distinguishing video and audio would require reading their streams.
    """
    found = source.format.modality
    if modality not in (None, found) and not (modality in RECORDINGS and found in RECORDINGS):
        raise SourceUnsupported(_other_kind(source, found, modality))


def _other_kind(source: Source, found: Modality, wanted: Modality | None) -> str:
    return (
        f"{source.path} is {source.format.name} ({found}), not {wanted}. Omit the type (--type), or give the right one."
    )


def _retitled(other: ResourceMap, source: Source) -> ResourceMap:
    """Return the map with this file's name as title if its title was the other file's name."""
    return evolve(other, title=source.path.stem) if other.title == Path(other.source_path).stem else other
