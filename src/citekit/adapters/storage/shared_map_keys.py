"""The keys of maps in an object store, and of the hints and notes about them.

`maps/ID/NUMBER` is a map, or empty if it was removed. `mapped/SOURCE/MAPPER/ID` and `paths/PATH/ID` are hints about the
maps of bytes or files, and `renamed/ID/NUMBER` has the new ID of a resource.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from citekit.domain.digest import Digest
from citekit.domain.errors import ResourceIdRefused
from citekit.domain.ids import check_resource_id
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.object_key import ListedObject, ObjectKey
from citekit.domain.ports.object_store import ObjectStore

MAPS, MAPPED, PATHS, RENAMED = "maps", "mapped", "paths", "renamed"

_PART = 120
_LONGEST_NAME = 360
_ESCAPED = re.compile(rb"[^A-Za-z0-9._]")
_ESCAPE = re.compile(r"-([0-9A-F]{2})")


def id_segments(resource_id: str) -> str:
    """Return the ID as one or more segments of a key. Raise `ResourceIdRefused` if it is too long."""
    data = resource_id.encode("utf-8", "surrogatepass")
    text = _ESCAPED.sub(lambda found: b"-%02X" % found[0][0], data).decode("ascii")
    if len(text) > _LONGEST_NAME:
        dots = "..." if len(resource_id) > 40 else ""
        raise ResourceIdRefused(
            f"The resource ID {resource_id[:40]!r}{dots} is too long for a shared store. Use a shorter ID."
        )
    return "/".join(f"r{text[at : at + _PART]}" for at in range(0, len(text), _PART))


def id_in(segments: Sequence[str]) -> str | None:
    """Return the ID that segments of a key represent, or None if they do not represent an ID."""
    if not segments or not all(segment.startswith("r") for segment in segments):
        return None
    text = "".join(segment[1:] for segment in segments)
    try:
        data = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text).encode("latin-1")
        return check_resource_id(data.decode())
    except (UnicodeError, ResourceIdRefused):
        return None


def folder_of(area: str, resource_id: str) -> str:
    """Return the folder with the numbered objects of a resource."""
    return f"{area}/{id_segments(resource_id)}"


def map_key(resource_id: str, number: int) -> ObjectKey:
    """Return the key of a map."""
    return ObjectKey(f"{folder_of(MAPS, resource_id)}/{number:08}")


def renamed_key(resource_id: str, number: int) -> ObjectKey:
    """Return the key of note `number` about a renamed resource with the old ID `resource_id`."""
    return ObjectKey(f"{folder_of(RENAMED, resource_id)}/{number:08}")


def path_folder(source_path: str) -> str:
    """Return the folder with the hints about the file at a path."""
    return f"{PATHS}/{hashlib.sha256(source_path.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def mapped_folder(source: Digest, mapper: MapperIdentity) -> str:
    """Return the folder with the hints about the maps that `mapper` made from the bytes with the digest `source`."""
    made_by = hashlib.sha256(json.dumps([mapper.name, mapper.model, mapper.version]).encode()).hexdigest()
    return f"{MAPPED}/{source.hex[:32]}/{made_by[:16]}"


def hinted_ids(objects: ObjectStore, area: str) -> Iterator[tuple[str, ListedObject]]:
    """Yield each hint below `area` (an area or a folder in it), preceded by the resource ID that it names."""
    first = {MAPPED: 3, PATHS: 2}[area.partition("/")[0]]
    for each in objects.listing(area):
        name = id_in(each.key.text.split("/")[first:])
        if name is not None:
            yield name, each


def numbered(
    objects: ObjectStore, area: str, resource_id: str | None = None
) -> Iterator[tuple[str, Mapping[int, ListedObject]]]:
    """Yield the ID of each resource (or only `resource_id`) with its objects by number."""
    listed = objects.listing(area if resource_id is None else folder_of(area, resource_id))
    for folder, found in groupby(listed, key=lambda each: each.key.text.rpartition("/")[0]):
        name = id_in(folder.split("/")[1:])
        if name is not None and resource_id in (None, name):
            numbers = ((each.key.text.rpartition("/")[2], each) for each in found)
            yield name, {int(number): each for number, each in numbers if number.isdigit()}
