"""Evidence that was given before, as long as everything it rests on still looks as it did."""

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
"""Answers that are kept; the least recently asked for go first."""


NOTED_EVERY = 1.0
"""Seconds after which the store is asked again for evidence that is asked for all the time."""


@frozen(cache_hash=True)
class Asked:
    """What an answer depends on beside the files."""

    what: NodeName | Address
    virtual: bool
    options: Options


@define
class _Given:
    """An answer, the map it was read from, and the file that had `digest`; without a digest nobody ever looked at it.

    The map is not kept in memory for it: where the store has let it go, the answer does not hold any more.
    """

    evidence: Evidence
    resource_map: weakref.ref[ResourceMap]
    path: Path
    digest: Digest | None
    stored: StoredEvidence | None = None
    noted: float = -math.inf
    """When the store was last told, by the monotonic clock, that its object is in use."""


@define
class ResolveCache:
    """The last answers. Looking one up costs a look at the state of each file that it rests on, and reads none."""

    maps: MapStore
    sources: Sources
    evidence: EvidenceStore
    outputs: Outputs
    _given: OrderedDict[Asked, _Given] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def keep(self, asked: Asked, given: Evidence, resource_map: ResourceMap, source: Source | None) -> None:
        """Remember an answer, but none that says that its source is stale, and none of a source that is not plainly named."""
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
        """The answer that the same request had, the same object; None where it has to be looked for again."""
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
        """Whether what was laid out lies there. Now and then the store is asked, too, which so learns what is in use."""
        now = time.monotonic()
        if given.stored is None or now - given.noted > NOTED_EVERY:
            given.stored, given.noted = self.evidence.cached(receipt.key), now
        return given.stored is not None and self.outputs.is_unchanged(path, given.stored, receipt)
