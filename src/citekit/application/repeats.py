"""Evidence that was given before, as long as everything it rests on still looks as it did."""

from __future__ import annotations

import threading
from collections import OrderedDict

from attrs import define, evolve, field, frozen

from citekit.application.locating import LocateSource
from citekit.domain.address import Address
from citekit.domain.evidence import Evidence, Options
from citekit.domain.node import NodeName
from citekit.domain.ports.evidence_store import EvidenceStore
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.outputs import Outputs
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

REMEMBERED = 2048
"""Answers that are kept; the least recently asked for go first."""


@frozen
class Asked:
    """What an answer depends on beside the files."""

    what: NodeName | Address
    virtual: bool
    options: Options


@frozen
class _Given:
    """An answer, the map it was read from, and the file that it was cut from (None for a virtual answer)."""

    evidence: Evidence
    resource_map: ResourceMap
    source: Source | None


@define
class Repeats:
    """The last answers. Looking one up costs a look at the state of each file that it rests on, and reads none."""

    maps: MapStore
    evidence: EvidenceStore
    outputs: Outputs
    locate: LocateSource
    _given: OrderedDict[Asked, _Given] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def keep(self, asked: Asked, given: Evidence, resource_map: ResourceMap, source: Source | None) -> None:
        """Remember an answer; one that says that its source is stale, or was found elsewhere, is not."""
        if given.stale is not None or (source is not None and not self.locate.is_at(resource_map, source.path)):
            return
        with self._lock:
            self._given[asked] = _Given(evolve(given, made_now=False), resource_map, source)
            self._given.move_to_end(asked)
            while len(self._given) > REMEMBERED:
                self._given.popitem(last=False)

    def again(self, asked: Asked) -> Evidence | None:
        """The answer that the same request had, the same object; None where it has to be looked for again."""
        given = self._given.get(asked)
        if given is None or not self._holds(given):
            return None
        with self._lock:
            if asked in self._given:
                self._given.move_to_end(asked)
        return given.evidence

    def _holds(self, given: _Given) -> bool:
        known = given.resource_map
        if self.maps.at_hand(known.resource_id) is not known:
            return False
        if given.source is None:
            return self.locate.is_unchanged(known)
        return self.locate.is_unchanged(known, given.source) and self._is_there(given.evidence)

    def _is_there(self, evidence: Evidence) -> bool:
        path, receipt = evidence.output_path, evidence.receipt
        if path is None or receipt is None:
            return False
        stored = self.evidence.at_hand(receipt.key)
        return stored is not None and self.outputs.still(path, stored, receipt)
