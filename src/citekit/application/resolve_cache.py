"""Caches evidence in memory while the files that it depends on are unchanged."""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from attrs import define, evolve, field, frozen

from citekit.domain.address import Address
from citekit.domain.digest import Digest
from citekit.domain.evidence import Evidence, Options, Receipt, StoredEvidence
from citekit.domain.node import NodeName
from citekit.domain.ports.evidence_store import EvidenceStore
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.outputs import Outputs
from citekit.domain.ports.sources import Sources
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

REMEMBERED = 2048
"""The maximum number of cached answers."""


NOTED_EVERY = 1.0
"""The minimum number of seconds between two notifications to the store that evidence is still in use."""


@frozen(cache_hash=True)
class Asked:
    """A request for evidence, used as a cache key."""

    what: NodeName | Address
    virtual: bool
    options: Options


@define
class _Given:
    """A cached answer, its map, and the path and digest (None if unknown) of its source file.

    The reference to the map is weak: an answer is valid only while the map is cached.
    """

    evidence: Evidence
    resource_map: weakref.ref[ResourceMap]
    path: Path
    digest: Digest | None
    stored: StoredEvidence | None = None
    noted: float = -math.inf
    """When the store was last notified that the evidence is in use, on the monotonic clock."""


@define
class ResolveCache:
    """A cache of the most recently used evidence. A lookup checks file metadata and reads no files."""

    maps: MapStore
    sources: Sources
    evidence: EvidenceStore
    outputs: Outputs
    _given: OrderedDict[Asked, _Given] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def keep(self, asked: Asked, given: Evidence, resource_map: ResourceMap, source: Source | None) -> None:
        """Cache an answer, unless its source has changed or is not at the absolute path that the map records."""
        path = Path(resource_map.source_path)
        if given.stale is not None or not path.is_absolute() or (source is not None and source.path != path):
            return
        digest = resource_map.source_digest if source is None else source.digest
        with self._lock:
            self._given[asked] = _Given(evolve(given, made_now=False), weakref.ref(resource_map), path, digest)
            self._given.move_to_end(asked)
            while len(self._given) > REMEMBERED:
                self._given.popitem(last=False)

    def again(self, asked: Asked) -> Evidence | None:
        """Return the cached evidence for the same request, or None if it is not cached or no longer valid."""
        given = self._given.get(asked)
        if given is None or not self._holds(given):
            return None
        with self._lock, suppress(KeyError):
            self._given.move_to_end(asked)
        return given.evidence

    def _holds(self, given: _Given) -> bool:
        known = given.resource_map()
        if known is None or self.maps.cached(known.resource_id) is not known:
            return False
        if given.digest is not None and self.sources.cached_digest(given.path) != given.digest:
            return False
        path, receipt = given.evidence.output_path, given.evidence.receipt
        return path is None or receipt is None or self._is_there(given, path, receipt)

    def _is_there(self, given: _Given, path: Path, receipt: Receipt) -> bool:
        """Return whether the output file at `path` is unchanged, and note regularly that its evidence is in use."""
        now = time.monotonic()
        if given.stored is None or now - given.noted > NOTED_EVERY:
            given.stored, given.noted = self.evidence.cached(receipt.key), now
        return given.stored is not None and self.outputs.is_unchanged(path, given.stored, receipt)
