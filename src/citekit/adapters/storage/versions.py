"""Older maps of a resource that other mappers made of the same bytes: kept, so that choosing one again costs nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from citekit.adapters.storage.map_files import SIZE_LIMIT, SUFFIX, parsed
from citekit.adapters.system.files import open_home_file, sweep, unwritable, write_atomically
from citekit.adapters.system.home_files import check_folder
from citekit.adapters.system.home_seal import CODE_SIZE, HomeSeal
from citekit.domain.digest import Digest
from citekit.domain.errors import MapCorrupt
from citekit.domain.ids import stored_name
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap

FOLDER = ".editions"
"""Below the folder of maps; hidden, so that no edition is taken for a map of its own."""


SOURCES = "sources.txt"
"""In the folder of a resource: the digests of the files that earlier maps were of, one a line, oldest first.

Each is followed by a code under the seal of this home: a list that came with an archive or a clone vouches for no file.
"""

SEAL_FOLDER = ".sources"
"""Below the folder of maps: holds the seal for these lists. Not a folder of `.editions`, where it could be a resource's."""

SOURCES_LIMIT = 10_000
"""Digests that are remembered for one resource; the oldest are dropped first."""

_LINE = 64 + 1 + 2 * CODE_SIZE + 1
"""Bytes of a digest and its code in hexadecimal, a space, and the end of the line."""

_SEALED = b"earlier source"


class Editions:
    """One file for each mapper, in a folder for each resource; and the digests of the files that it was mapped from."""

    def __init__(self, maps_folder: Path) -> None:
        self._folder = maps_folder / FOLDER
        self._seal = HomeSeal(maps_folder / SEAL_FOLDER, private=True)

    def keep(self, resource_map: ResourceMap, data: bytes, mode: int = 0o666) -> None:
        """Keep the written form of a map that is about to be replaced, with those permissions.

        A map whose mapper is not known is not kept.
        """
        if resource_map.mapper is not None:
            write_atomically(self._path(resource_map.resource_id, resource_map.mapper), data, mode=mode)
            sweep(self._of(resource_map.resource_id))

    def get(self, resource_id: str, mapper: MapperIdentity) -> ResourceMap | None:
        """The kept map of that mapper; None where there is none, or it is damaged."""
        with suppress(OSError, MapCorrupt):
            return self._read(resource_id, self._path(resource_id, mapper))
        return None

    def all(self, resource_id: str) -> Sequence[ResourceMap]:
        """Every kept map of the resource that can be read, in the order of its files' names."""
        found = []
        for path in sorted(self._of(resource_id).glob(f"*{SUFFIX}")):
            with suppress(OSError, MapCorrupt):
                found.append(self._read(resource_id, path))
        return found

    def note_source(self, resource_id: str, digest: Digest) -> None:
        """Remember that the resource was a file with that digest. Raises `HomeUnwritable`."""
        earlier = [each for each in self.sources(resource_id) if each != digest]
        kept = [*earlier, digest][-SOURCES_LIMIT:]
        lines = "".join(f"{each} {self._seal.code(*_facts(resource_id, each)).hex()}\n" for each in kept)
        write_atomically(self._of(resource_id) / SOURCES, lines.encode(), mode=0o600)

    def sources(self, resource_id: str) -> Sequence[Digest]:
        """The digests that this home noted; other lines are skipped."""
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
        """Remove all that is kept of the resource. Raises `HomeUnwritable`."""
        try:
            shutil.rmtree(self._of(resource_id))
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
    """What the code of a noted source is made of."""
    return _SEALED, resource_id.encode("utf-8", "surrogatepass"), digest.hex.encode()
