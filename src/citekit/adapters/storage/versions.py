"""Retains older maps that other mappers made from the same bytes, so that switching back needs no new mapping."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from citekit.adapters.storage.map_files import SIZE_LIMIT, SUFFIX, parsed
from citekit.adapters.system.files import open_home_file, sweep, unwritable, write_atomically
from citekit.adapters.system.home_files import check_folder, remove_tree
from citekit.adapters.system.home_seal import CODE_SIZE, HomeSeal
from citekit.domain.digest import Digest
from citekit.domain.errors import MapCorrupt
from citekit.domain.ids import stored_name
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap

FOLDER = ".editions"
"""Hidden subfolder of the maps folder, so that no edition is listed as a map."""


SOURCES = "sources.txt"
"""A file in the folder of a resource with the digests of its earlier sources, oldest first.

Each has an authentication code of this home, so that a list from an archive or a clone has no effect.
"""

SEAL_FOLDER = ".sources"
"""Subfolder of the maps folder with the seal of these lists, outside `.editions`, where a resource could have that
name.
"""

SOURCES_LIMIT = 10_000
"""Maximum number of digests for one resource; the oldest are removed first."""

_LINE = 64 + 1 + 2 * CODE_SIZE + 1
"""Length of a line in bytes: two hexadecimal texts, a space, and a newline."""

_SEALED = b"earlier source"


class Editions:
    """Retained maps, in a folder for each resource, and the digests of earlier sources."""

    def __init__(self, maps_folder: Path) -> None:
        self._folder = maps_folder / FOLDER
        self._seal = HomeSeal(maps_folder / SEAL_FOLDER, private=True)

    def keep(self, resource_map: ResourceMap, data: bytes, mode: int = 0o666) -> None:
        """Retain a map that is about to be replaced, if it has a mapper identity, with the file permissions `mode`."""
        if resource_map.mapper is not None:
            write_atomically(self._path(resource_map.resource_id, resource_map.mapper), data, mode=mode)
            sweep(self._of(resource_map.resource_id))

    def get(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """Return the retained map that `mapper` made, or None if it is missing or damaged."""
        with suppress(OSError, MapCorrupt):
            return self._read(resource_id, self._path(resource_id, mapper))
        return None

    def all(self, resource_id: str) -> Sequence[ResourceMap]:
        """Return the readable retained maps of the resource, sorted by file name."""
        found = []
        for path in sorted(self._of(resource_id).glob(f"*{SUFFIX}")):
            with suppress(OSError, MapCorrupt):
                found.append(self._read(resource_id, path))
        return found

    def note_source(self, resource_id: str, digest: Digest) -> None:
        """Record that the resource had a source with that digest. Raise `HomeUnwritable` if the list cannot be written."""
        earlier = [each for each in self.sources(resource_id) if each != digest]
        kept = [*earlier, digest][-SOURCES_LIMIT:]
        lines = "".join(f"{each} {self._seal.code(*_facts(resource_id, each)).hex()}\n" for each in kept)
        write_atomically(self._of(resource_id) / SOURCES, lines.encode(), mode=0o600)

    def sources(self, resource_id: str) -> Sequence[Digest]:
        """Return the digests that this home recorded, oldest first. Lines without a valid code are ignored."""
        found = []
        with suppress(OSError), open_home_file(self._of(resource_id) / SOURCES) as file:
            for line in file.read(SOURCES_LIMIT * _LINE).decode("ascii", "replace").splitlines():
                written, _, code = line.partition(" ")
                with suppress(ValueError):
                    digest = Digest(written)
                    if self._seal.holds(bytes.fromhex(code), *_facts(resource_id, digest)):
                        found.append(digest)
        return tuple(found)

    def forget(self, resource_id: str) -> None:
        """Remove everything retained for the resource. Raise `HomeUnwritable` if it cannot be removed."""
        try:
            remove_tree(self._of(resource_id))
        except FileNotFoundError:
            return
        except OSError as error:
            raise unwritable(error, self._of(resource_id)) from error

    def _of(self, resource_id: str) -> Path:
        folder = self._folder / stored_name(resource_id)
        check_folder(folder)
        return folder

    def _path(self, resource_id: str, mapper: MapperIdentity) -> Path:
        name = hashlib.sha256(json.dumps([mapper.name, mapper.model, mapper.version]).encode()).hexdigest()[:16]
        return self._of(resource_id) / f"{name}{SUFFIX}"

    def _read(self, resource_id: str, path: Path) -> ResourceMap:
        with open_home_file(path) as file:
            return parsed(resource_id, path, file.read(SIZE_LIMIT + 1))


def _facts(resource_id: str, digest: Digest) -> tuple[bytes, bytes, bytes]:
    """Return the parts that the code of a recorded source authenticates."""
    return _SEALED, resource_id.encode("utf-8", "surrogatepass"), digest.hex.encode()
