"""Checks and parses a single map file."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from citekit.adapters.storage.map_cards import SIZE_LIMIT
from citekit.adapters.storage.map_listing import SUFFIX
from citekit.domain.distribution import UPDATE_COMMAND
from citekit.domain.errors import FaultyAnswer, MapCorrupt, MapTooNew, VersionTooNew
from citekit.domain.resource_map import IMPORTED_FROM, ResourceMap
from citekit.wire import maps

__all__ = ["SIZE_LIMIT", "SUFFIX", "check_file", "origins", "parsed", "written"]


def origins(resource_map: ResourceMap) -> list[str]:
    """Return the paths of the files whose text a map may contain: its source, and the data from which it was imported."""
    found, data = [resource_map.source_path], resource_map.metadata.get(IMPORTED_FROM)
    if isinstance(data, str) and data:
        found.append(data)
        with suppress(OSError, ValueError), os.scandir(data) as entries:  # if it is a folder
            found += [entry.path for entry in entries if entry.is_file()]
    return found


def check_file(resource_id: str, path: Path, status: os.stat_result) -> None:
    """Raise `MapCorrupt` if the path is not a regular file or the file is too large."""
    if not stat.S_ISREG(status.st_mode):
        raise MapCorrupt(f"The map {path} is not a regular file. Remove it. {_map_again(resource_id, path)}")
    if status.st_size > SIZE_LIMIT:
        raise _too_large(resource_id, path)


def parsed(resource_id: str, path: Path, data: bytes) -> ResourceMap:
    """Parse the bytes of the map file at `path`, with the resource ID from its file name.

    Raise `MapTooNew` if a later version of CiteKit wrote it, or `MapCorrupt` if it is damaged or too large.
    """
    if len(data) > SIZE_LIMIT:
        raise _too_large(resource_id, path)
    try:
        found = maps.from_json(data.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise MapCorrupt(
            f"The map {path} is damaged: it is not valid UTF-8 at byte {error.start}. {_map_again(resource_id, path)}"
        ) from error
    except VersionTooNew as error:
        raise MapTooNew(
            f"The map of '{resource_id}' ({path}) was written by a later version of CiteKit. Update CiteKit "
            f"({UPDATE_COMMAND})."
        ) from error
    except FaultyAnswer as error:
        raise MapCorrupt(
            f"The map of '{resource_id}' is damaged: {str(error).removesuffix('.')}. {_map_again(resource_id, path)}"
        ) from error
    return found if found.resource_id == resource_id else evolve(found, resource_id=resource_id)


def _too_large(resource_id: str, path: Path) -> MapCorrupt:
    return MapCorrupt(
        f"The map {path} is larger than the limit of {SIZE_LIMIT // 2**20} MB. {_map_again(resource_id, path)}"
    )


def _map_again(resource_id: str, path: Path) -> str:
    from shlex import quote

    home = f" --home {quote(str(path.parent.parent))}" if path.parent.name == ".resource_maps" else ""
    return f"To map its source again, run: citekit ingest FILE --id {quote(resource_id)} --force{home}"


def written(resource_map: ResourceMap) -> bytes:
    """Return the map as JSON. Raise `FaultyAnswer` if it has values that JSON cannot represent."""
    try:
        return maps.to_json(resource_map).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise FaultyAnswer(
            f"The map of '{resource_map.resource_id}' cannot be written as JSON", [f"$: {error}"]
        ) from error
