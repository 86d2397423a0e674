"""A map store with one JSON file for each map, which users may read, copy, and edit."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.storage.hinted_maps import ids_of, map_of
from citekit.adapters.storage.map_cache import MapCache
from citekit.adapters.storage.map_cards import MapCards, RememberedCard, is_inside
from citekit.adapters.storage.map_files import SIZE_LIMIT, SUFFIX, check_file, origins, parsed, written
from citekit.adapters.storage.map_listing import MapListing, MapVersions, is_plain
from citekit.adapters.storage.versions import Editions
from citekit.adapters.system.file_state import FileState, version_of
from citekit.adapters.system.files import open_for_reading, sweep, sync_folder, unwritable, write_atomically
from citekit.adapters.system.home_files import check_folder, read_file
from citekit.adapters.system.permissions import mode_for, readers_of_all
from citekit.domain.digest import Digest
from citekit.domain.errors import MapCorrupt, ResourceIdRefused, ResourceMissing
from citekit.domain.ids import check_resource_id, stored_name
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap
from citekit.domain.suggestions import nearest_names
from citekit.wire import maps

NOTE_LIMIT = 4096
"""Maximum size in bytes of a note with the new ID of a renamed map."""

RENAMES_LIMIT = 20
"""The maximum number of IDs in a chain of renames that is followed."""

KEPT = 8
"""Maximum number of resource IDs that one hint contains, newest first."""


class JsonMapStore:
    """A `MapStore` in a folder. Changes by other processes or by hand are visible at the next access.

    A map's resource ID is its file name, regardless of the ID in the file.
    """

    def __init__(self, folder: Path, index: Index | None = None, cache_folder: Path | None = None) -> None:
        """`folder` is created by the first `put`. `index` records which mapper mapped which bytes and files.

        `cache_folder` holds a cache of map cards for all processes; without it, cards are read from the maps.
        """
        self._folder = folder
        self._listing = MapListing(str(folder))
        self._cards = MapCards(str(cache_folder)) if cache_folder is not None else None
        self._hints = MapHints(index)
        self._hot = MapCache()
        self._swept = False
        self._editions = Editions(folder)

    def ids(self) -> Sequence[str]:
        """See `MapStore.ids`. The same tuple is returned while the folder is unchanged."""
        return self._listing.ids()

    def cached_ids(self) -> Sequence[str] | None:
        """See `MapStore.cached_ids`."""
        return self._listing.cached()

    def get(self, resource_id: str, version: str | None = None) -> ResourceMap:  # noqa: ARG002
        """See `MapStore.get`. A map in memory is returned again while its file is unchanged."""
        hot = self._hot.get(resource_id)
        return hot if hot is not None else self._read(resource_id, self._locate(_checked(resource_id))[0])

    def cached(self, resource_id: str) -> ResourceMap | None:
        """See `MapStore.cached`."""
        return self._hot.get(resource_id)

    def card(self, resource_id: str) -> MapCard:
        """See `MapStore.card`. The map is parsed only if the cache has no card for it."""
        path, status = self._locate(_checked(resource_id))
        known = self._cards.get(resource_id, str(path), status) if self._cards is not None else None
        return known or self.get(resource_id).card()

    def cards(self, resource_ids: Iterable[str] | None = None) -> Sequence[MapCard]:
        """See `MapStore.cards`."""
        seen: dict[str, MapCard | None] = dict.fromkeys(sorted(resource_ids or ()))
        try:
            if resource_ids is None:
                seen = self._cards.look(str(self._folder)) if self._cards is not None else dict.fromkeys(self.ids())
        except OSError as error:
            raise self._listing.unreadable(error) from error
        found = []
        for resource_id, card in seen.items():
            with suppress(ResourceIdRefused, ResourceMissing, MapCorrupt):
                found.append(card or self.card(resource_id))
        return found

    def versions(self) -> Mapping[str, str]:
        """See `MapStore.versions`. Versions are read on demand and are not cached."""
        self._listing.check()
        return MapVersions(self._listing, self.version)

    def version(self, resource_id: str) -> str | None:
        """See `MapStore.version`. The version is derived from the state of the file."""
        with suppress(ResourceIdRefused):
            for path in self._candidates(_checked(resource_id)):
                with suppress(OSError):
                    return version_of(path.stat(), time.time())
        return None

    def state(self) -> str | None:
        """See `MapStore.state`. It is the state of the folder, or "" if the folder does not exist."""
        now = time.time()
        try:
            state = FileState.of(self._folder.stat())
        except FileNotFoundError:
            return ""
        except OSError:
            return None
        return str(state) if state.tells(now) else None

    def put(self, resource_map: ResourceMap) -> None:
        """See `MapStore.put`."""
        name = check_resource_id(resource_map.resource_id)
        data = written(resource_map)
        mode = self._mode(resource_map)
        self._keep_other_edition(resource_map, mode)
        write_atomically(self._path(name), data, mode=mode)
        self._listing.forget()
        self._sweep_once()
        self._hints.remember(resource_map)
        if self._cards is not None:
            self._cards.remember(RememberedCard(resource_map.card(), hashlib.sha256(data).hexdigest()))

    def note_renamed(self, old_id: str, new_id: str) -> None:
        """Write a note with the new ID. Notes are only suggestions, so a copied home cannot redirect addresses."""
        write_atomically(self._note(old_id), new_id.encode("utf-8", "surrogatepass"))

    def remove(self, resource_id: str) -> None:
        """See `MapStore.remove`. A file that a user stored under the plain resource ID is also removed."""
        check_resource_id(resource_id)
        check_folder(self._folder)
        removed = [self._unlink(path) for path in self._candidates(resource_id)]
        if not any(removed):
            raise self._missing(resource_id)
        self._editions.forget(resource_id)
        sync_folder(self._folder)
        self._hot.drop(resource_id)
        self._listing.forget()
        if self._cards is not None:
            self._cards.forget(resource_id)

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """See `MapStore.edition`."""
        with suppress(ResourceMissing, MapCorrupt):
            if self.card(resource_id).mapper == (mapper.name, mapper.model, mapper.version):
                current = self.get(resource_id)
                if current.mapper == mapper:
                    return current
        return self._editions.get(check_resource_id(resource_id), mapper)

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """See `MapStore.editions`."""
        current = self.get(resource_id)
        kept = self._editions.all(resource_id)
        same = (each for each in kept if each.source_digest == current.source_digest and each.mapper != current.mapper)
        return [current, *same]

    def earlier_sources(self, resource_id: str) -> Sequence[Digest]:
        """See `MapStore.earlier_sources`."""
        return self._editions.sources(_checked(resource_id))

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """See `MapStore.find_mapped`. Also return None if the index was lost."""
        return map_of(self, self._hints.mapped(source, mapper), source, mapper)

    def find_source(self, source_path: str) -> Sequence[str]:
        """See `MapStore.find_source`. If the index was lost, the result is empty."""
        return ids_of(self, self._hints.of_file(source_path), source_path)

    def expected_at(self, resource_id: str) -> str:
        """See `MapStore.expected_at`. The path is relative to the home and has the ID as it is, without encoding."""
        return f"{self._folder.name}/{resource_id}{SUFFIX}"

    def _mode(self, resource_map: ResourceMap) -> int:
        """Return the permissions of the map file, for users who can read its source, the files from which it was
        imported, and the map that it replaces.
        """
        return mode_for(readers_of_all([self._path(resource_map.resource_id), *origins(resource_map)]))

    def _keep_other_edition(self, resource_map: ResourceMap, mode: int) -> None:
        with suppress(ResourceMissing, MapCorrupt):
            there, new = self.card(resource_map.resource_id), resource_map.card()
            if there.source_hash is None:
                return
            if there.source_hash != new.source_hash:
                self._editions.note_source(resource_map.resource_id, Digest(there.source_hash))
            elif there.mapper != new.mapper:
                current = self.get(resource_map.resource_id)
                self._editions.keep(current, maps.to_json(current).encode(), mode)

    def _path(self, resource_id: str) -> Path:
        return self._folder / f"{stored_name(resource_id)}{SUFFIX}"

    def _candidates(self, resource_id: str) -> Iterator[Path]:
        """Yield the path that CiteKit writes, then the path that a user would choose."""
        if is_plain(resource_id):
            yield self._folder / f"{resource_id}{SUFFIX}"
            return
        path = self._path(resource_id)
        yield path
        if path.name != f"{resource_id}{SUFFIX}" and not resource_id.startswith("."):
            yield self._folder / f"{resource_id}{SUFFIX}"

    def _locate(self, resource_id: str) -> tuple[Path, os.stat_result]:
        """Return the path of the map file and its status."""
        check_folder(self._folder)
        for path in self._candidates(resource_id):
            try:
                status = os.lstat(path)
                if stat.S_ISLNK(status.st_mode):
                    self._check_link(path)
                    status = path.stat()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise MapCorrupt(f"The map of '{resource_id}' cannot be read: {path} ({error.strerror}).") from error
            check_file(resource_id, path, status)
            return path, status
        raise self._missing(resource_id)

    def _check_link(self, path: Path) -> None:
        if not is_inside(str(path), str(self._folder)):
            raise MapCorrupt(
                f"The map {path} is a symbolic link to a file outside its folder. Replace the link with the file."
            )

    def _missing(self, resource_id: str) -> ResourceMissing:
        return ResourceMissing(
            resource_id, self.expected_at(resource_id), lambda: self._renamed(resource_id) or self._nearest(resource_id)
        )

    def _nearest(self, resource_id: str) -> Sequence[str]:
        return nearest_names(resource_id, self.ids())

    def _renamed(self, resource_id: str) -> Sequence[str]:
        """Return a list with the current ID of a renamed map; empty if it was not renamed or the new map is missing."""
        seen = [resource_id]
        with suppress(OSError, UnicodeError, ResourceIdRefused):
            while len(seen) < RENAMES_LIMIT:
                name = read_file(self._note(seen[-1]), NOTE_LIMIT).decode("utf-8", "surrogatepass").strip()
                if name in seen:
                    break
                seen.append(check_resource_id(name))
        return [seen[-1]] if seen[-1] in self.ids() and seen[1:] else []

    def _note(self, resource_id: str) -> Path:
        return self._folder / ".renamed" / f"{stored_name(resource_id)}.txt"

    def _read(self, resource_id: str, path: Path) -> ResourceMap:
        read_at = time.time()
        try:
            with open_for_reading(path) as file:
                status = os.fstat(file.fileno())
                data = file.read(SIZE_LIMIT + 1)
        except FileNotFoundError:
            raise self._missing(resource_id) from None
        except OSError as error:
            raise MapCorrupt(f"The map of '{resource_id}' cannot be read: {path} ({error.strerror}).") from error
        found = parsed(resource_id, path, data)
        absent = tuple(takewhile(lambda each: each != path, self._candidates(resource_id)))
        self._hot.keep(found, path, absent, FileState.of(status), read_at)
        if self._cards is not None:
            digest = hashlib.sha256(data).hexdigest()
            self._cards.remember_read(RememberedCard(found.card(), digest).seen(status, read_at))
        return found

    def _unlink(self, path: Path) -> bool:
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unwritable(error, path) from error
        return True

    def _sweep_once(self) -> None:
        if not self._swept:
            self._swept = True
            sweep(self._folder)


def _checked(resource_id: str) -> str:
    return resource_id if is_plain(resource_id) else check_resource_id(resource_id)


class MapHints:
    """Hints: resource IDs under which files were mapped. They must be checked against the maps. Without an index, there
    are none.
    """

    def __init__(self, index: Index | None) -> None:
        self._index = index

    def remember(self, resource_map: ResourceMap) -> None:
        """Record the source and the mapper of the map."""
        if self._index is None:
            return
        source, mapper = resource_map.source_digest, resource_map.mapper
        keys = [_source_key(resource_map.source_path)]
        if source is not None and mapper is not None:
            keys.append(_mapped_key(source, mapper))
        for key in keys:
            known = self._ids(key)
            if known[:1] != [resource_map.resource_id]:
                others = [name for name in known if name != resource_map.resource_id]
                self._index.put(key, {"ids": [resource_map.resource_id, *others[: KEPT - 1]]})

    def mapped(self, source: Digest, mapper: MapperIdentity) -> Sequence[str]:
        """Return resource IDs of maps that `mapper` may have made from the bytes with the digest `source`."""
        return self._ids(_mapped_key(source, mapper))

    def of_file(self, source_path: str) -> Sequence[str]:
        """Return resource IDs of maps that may describe the file at `source_path`."""
        return self._ids(_source_key(source_path))

    def _ids(self, key: str) -> list[str]:
        known = self._index.get(key) if self._index is not None else None
        ids = known.get("ids") if known else None
        return [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []


def _source_key(source_path: str) -> str:
    return f"source:{hashlib.sha256(source_path.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _mapped_key(source: Digest, mapper: MapperIdentity) -> str:
    return f"mapped:{source}:{json.dumps([mapper.name, mapper.model, mapper.version])}"
