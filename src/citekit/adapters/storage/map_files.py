"""One map file: which id its name stands for, and what may be in it."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from attrs import evolve

from citekit.domain.errors import FaultyAnswer, MapCorrupt, ResourceIdRefused
from citekit.domain.ids import STORED_ID_LIMIT, check_resource_id, stored_name
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps

SUFFIX = ".json"

SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes of the largest map file that is read."""

_PLAIN = re.compile(rf"[A-Za-z0-9_~-][A-Za-z0-9._~-]{{0,{STORED_ID_LIMIT - 1}}}", re.ASCII)


def id_of(entry: os.DirEntry[str]) -> str | None:
    """The id of the map in a file of that name, or None where the file is no map or no id reaches it."""
    stem = entry.name.removesuffix(SUFFIX)
    if stem == entry.name or stem.startswith(".") or entry.is_dir(follow_symlinks=False):
        return None
    if _PLAIN.fullmatch(stem):
        return stem
    with suppress(UnicodeDecodeError, ResourceIdRefused):
        decoded = unquote(stem, errors="strict")
        return check_resource_id(decoded if stored_name(decoded) == stem else stem)
    return None


def check_file(path: Path, status: os.stat_result) -> None:
    """Raises `MapCorrupt` for what is no file, or too large for a map: neither is opened."""
    if not stat.S_ISREG(status.st_mode):
        raise MapCorrupt(f"The map {path} is not a file.")
    if status.st_size > SIZE_LIMIT:
        raise MapCorrupt(f"The map {path} is larger than {SIZE_LIMIT // 2**20} MB; map its source again.")


def parsed(resource_id: str, path: Path, data: bytes) -> ResourceMap:
    """The map that the bytes of the file at `path` hold, under the id of its file. Raises `MapCorrupt`."""
    if len(data) > SIZE_LIMIT:
        raise MapCorrupt(f"The map {path} is larger than {SIZE_LIMIT // 2**20} MB; map its source again.")
    try:
        found = maps.from_json(data.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise MapCorrupt(
            f"The map {path} is damaged: byte {error.start} is not UTF-8. Map its source again."
        ) from error
    except FaultyAnswer as error:
        raise MapCorrupt(
            f"The map of '{resource_id}' is damaged: {error}. Mend it, or map its source again."
        ) from error
    return found if found.resource_id == resource_id else evolve(found, resource_id=resource_id)
