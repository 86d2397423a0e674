"""Finds maps with hints, which name resource IDs. A hint may be out of date, so the map itself is always checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from citekit.domain.digest import Digest
from citekit.domain.errors import MapCorrupt, ResourceIdRefused, ResourceMissing
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap


def map_of(maps: MapStore, hinted: Iterable[str], source: Digest, mapper: MapperIdentity) -> ResourceMap | None:
    """Return the first map that `mapper` made from the bytes with the digest `source`, or None.

    The resource IDs in `hinted` are tried in order.
    """
    for resource_id in hinted:
        with suppress(ResourceIdRefused):
            found = maps.edition(resource_id, mapper)
            if found is not None and found.source_digest == source:
                return found
    return None


def ids_of(maps: MapStore, hinted: Iterable[str], source_path: str) -> Sequence[str]:
    """Return the hinted resource IDs whose maps describe the file at `source_path`, sorted."""
    found = []
    for resource_id in hinted:
        with suppress(ResourceIdRefused, ResourceMissing, MapCorrupt):
            if maps.card(resource_id).source_path == source_path:
                found.append(resource_id)
    return sorted(found)
