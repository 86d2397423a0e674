"""Hints in the index about which maps describe given bytes or a given file. Check each hint against the map itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.domain.digest import Digest
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.resource_map import ResourceMap

KEPT = 8
"""Maximum number of resource IDs for one key, newest first."""


class MapHints:
    """Resource IDs by what was mapped. Without an index, nothing is recorded."""

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
        """Return resource IDs of maps of those bytes by that mapper."""
        return self._ids(_mapped_key(source, mapper))

    def of_file(self, source_path: str) -> Sequence[str]:
        """Return resource IDs of maps of the file at that path."""
        return self._ids(_source_key(source_path))

    def _ids(self, key: str) -> list[str]:
        known = self._index.get(key) if self._index is not None else None
        ids = known.get("ids") if known else None
        return [name for name in ids if isinstance(name, str)] if isinstance(ids, list) else []


def _source_key(source_path: str) -> str:
    return f"source:{hashlib.sha256(source_path.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _mapped_key(source: Digest, mapper: MapperIdentity) -> str:
    return f"mapped:{source}:{json.dumps([mapper.name, mapper.model, mapper.version])}"
