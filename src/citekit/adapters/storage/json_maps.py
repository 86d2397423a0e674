"""Maps as JSON files in one folder, a file each, that people may read, copy and edit."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from citekit.adapters.drivers.diskcache import Index
from citekit.adapters.drivers.file_state import FileState
from citekit.adapters.drivers.files import open_for_reading, sweep, sync_folder, unwritable, write_atomically
from citekit.adapters.storage.editions import Editions
from citekit.adapters.storage.hot_maps import HotMaps
from citekit.adapters.storage.map_files import SIZE_LIMIT, SUFFIX, check_file, id_of, parsed
from citekit.domain.digest import Digest
from citekit.domain.errors import FaultyAnswer, MapCorrupt, ResourceIdRefused, ResourceMissing
from citekit.domain.ids import check_resource_id, stored_name
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.nearest import nearest_names
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps


class JsonMapStore:
    """A `MapStore` in a folder. Changes by other processes, or by hand, are seen at the next look.

    The id of a map is the name of its file, whatever the file says: a copy under a new name is a new resource.
    """

    def __init__(self, folder: Path, index: Index | None = None) -> None:
        """`folder` is made at the first `put`; `index` remembers which bytes were mapped by whom, and from where."""
        self._folder = folder
        self._index = index
        self._hot = HotMaps()
        self._swept = False
        self._editions = Editions(folder)

    def ids(self) -> Sequence[str]:
        """Every stored resource id, sorted. Raises `MapCorrupt` where the folder cannot be read."""
        try:
            with os.scandir(self._folder) as entries:
                return sorted({name for entry in entries if (name := id_of(entry)) is not None})
        except FileNotFoundError:
            return []
        except OSError as error:
            raise MapCorrupt(f"The folder of maps cannot be read: {self._folder} ({error.strerror}).") from error

    def get(self, resource_id: str) -> ResourceMap:
        """The map, from memory where its file is unchanged."""
        hot = self._hot.get(resource_id)
        return hot if hot is not None else self._read(resource_id, self._locate(check_resource_id(resource_id)))

    def card(self, resource_id: str) -> MapCard:
        """The map at a glance."""
        return self.get(resource_id).card()

    def cards(self) -> Sequence[MapCard]:
        """Every map at a glance; damaged ones are left out."""
        found = []
        for resource_id in self.ids():
            with suppress(ResourceMissing, MapCorrupt):
                found.append(self.card(resource_id))
        return found

    def versions(self) -> Mapping[str, str]:
        """Every stored resource id, with what its file looks like."""
        found = {}
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                name = id_of(entry)
                if name is not None:
                    with suppress(OSError):
                        status = entry.stat()
                        found[name] = f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
        return found

    def put(self, resource_map: ResourceMap) -> None:
        """Store or replace. Raises `FaultyAnswer` where the map holds what JSON cannot say."""
        name = check_resource_id(resource_map.resource_id)
        try:
            data = maps.to_json(resource_map).encode()
        except (ValueError, TypeError, RecursionError) as error:
            raise FaultyAnswer(f"The map of '{name}' cannot be written as JSON", [f"$: {error}"]) from error
        self._keep_other_edition(resource_map)
        write_atomically(self._path(name), data)
        self._sweep_once()
        self._remember(resource_map)

    def remove(self, resource_id: str) -> None:
        """Forget the map, and the file that was put there under its plain name, if there is one."""
        check_resource_id(resource_id)
        removed = [self._unlink(path) for path in self._candidates(resource_id)]
        if not any(removed):
            raise self._missing(resource_id)
        self._editions.forget(resource_id)
        sync_folder(self._folder)
        self._hot.drop(resource_id)

    def edition(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """The map of the resource that `mapper` made: the one in use, or one that was kept."""
        with suppress(ResourceMissing, MapCorrupt):
            current = self.get(resource_id)
            if current.mapper == mapper:
                return current
        return self._editions.get(check_resource_id(resource_id), mapper)

    def editions(self, resource_id: str) -> Sequence[ResourceMap]:
        """The map in use, and then the kept ones that other mappers made of the same bytes."""
        current = self.get(resource_id)
        kept = self._editions.all(resource_id)
        same = (each for each in kept if each.source_digest == current.source_digest and each.mapper != current.mapper)
        return [current, *same]

    def find_mapped(self, source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
        """A stored map of those bytes by that mapper; None, too, where the index that remembers it was lost."""
        for resource_id in self._ids_in(_mapped_key(source, mapper)):
            with suppress(ResourceIdRefused):
                found = self.edition(resource_id, mapper)
                if found is not None and found.source_digest == source:
                    return found
        return None

    def find_source(self, source_path: str) -> Sequence[str]:
        """The ids of maps of the file at that path; none, too, where the index that remembers them was lost."""
        found = []
        for resource_id in self._ids_in(_source_key(source_path)):
            with suppress(ResourceIdRefused, ResourceMissing, MapCorrupt):
                if self.get(resource_id).source_path == source_path:
                    found.append(resource_id)
        return sorted(found)

    def expected_at(self, resource_id: str) -> str:
        """The file's place relative to the home."""
        return f"{self._folder.name}/{resource_id}{SUFFIX}"

    def _keep_other_edition(self, resource_map: ResourceMap) -> None:
        with suppress(ResourceMissing, MapCorrupt):
            current = self.get(resource_map.resource_id)
            same_bytes = current.source_digest is not None and current.source_digest == resource_map.source_digest
            if same_bytes and current.mapper != resource_map.mapper:
                self._editions.keep(current, maps.to_json(current).encode())

    def _path(self, resource_id: str) -> Path:
        return self._folder / f"{stored_name(resource_id)}{SUFFIX}"

    def _candidates(self, resource_id: str) -> Iterator[Path]:
        """Where we put the map, then where a person would have put it."""
        path = self._path(resource_id)
        yield path
        if path.name != f"{resource_id}{SUFFIX}" and not resource_id.startswith("."):
            yield self._folder / f"{resource_id}{SUFFIX}"

    def _locate(self, resource_id: str) -> Path:
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
            check_file(path, status)
            return path
        raise self._missing(resource_id)

    def _check_link(self, path: Path) -> None:
        if not path.resolve().is_relative_to(self._folder.resolve()):
            raise MapCorrupt(f"The map {path} is a link that leads out of its folder; put the file itself there.")

    def _missing(self, resource_id: str) -> ResourceMissing:
        return ResourceMissing(
            resource_id, self.expected_at(resource_id), lambda: nearest_names(resource_id, self.ids())
        )

    def _read(self, resource_id: str, path: Path) -> ResourceMap:
        read_at = time.time()
        try:
            with open_for_reading(path) as file:
                state = FileState.of(os.fstat(file.fileno()))
                data = file.read(SIZE_LIMIT + 1)
        except FileNotFoundError:
            raise self._missing(resource_id) from None
        except OSError as error:
            raise MapCorrupt(f"The map of '{resource_id}' cannot be read: {path} ({error.strerror}).") from error
        found = parsed(resource_id, path, data)
        absent = tuple(takewhile(lambda each: each != path, self._candidates(resource_id)))
        self._hot.keep(found, path, absent, state, read_at)
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

    def _remember(self, resource_map: ResourceMap) -> None:
        source, mapper = resource_map.source_digest, resource_map.mapper
        keys = [_source_key(resource_map.source_path)]
        if source is not None and mapper is not None:
            keys.append(_mapped_key(source, mapper))
        for key in keys:
            others = [name for name in self._ids_in(key) if name != resource_map.resource_id]
            if self._index is not None:
                self._index.put(key, {"ids": [resource_map.resource_id, *others[:7]]})

    def _ids_in(self, key: str) -> list[str]:
        known = self._index.get(key) if self._index is not None else None
        ids = known.get("ids") if known else None
        return [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []


def _source_key(source_path: str) -> str:
    return f"source:{hashlib.sha256(source_path.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _mapped_key(source: Digest, mapper: MapperIdentity) -> str:
    return f"mapped:{source}:{json.dumps([mapper.name, mapper.model, mapper.version])}"
