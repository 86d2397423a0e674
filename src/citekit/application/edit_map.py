"""Corrects maps by hand. The corrected map is an edition of its own; the mapper's map is kept."""

from __future__ import annotations

from collections import deque
from threading import Lock

from attrs import define, evolve, field

from citekit.domain.errors import RequestRefused
from citekit.domain.map_editing import Edit
from citekit.domain.mapper_identity import EDITED
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.locks import Locks
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues

STEPS = 100
"""The number of edits of each map that can be undone, as long as the process runs."""


@define
class EditMap:
    """Edits maps, and undoes edits. Thread-safe."""

    maps: MapStore
    locks: Locks
    clock: Clock
    _earlier: dict[str, deque[ResourceMap]] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def __call__(self, resource_id: str, edit: Edit) -> ResourceMap:
        """Apply `edit` to the nodes of a map, store the result as the edition `edited`, and return it.

        Raise what `MapStore.get`, `MapStore.put`, and `edit` raise, and `RequestRefused` if the result is invalid.
        """
        with self.locks.holding("ids"):
            before = self.maps.get(resource_id)
            changed = evolve(before, nodes=edit(before.nodes))
            known = set(map_issues(before))
            wrong = [issue for issue in map_issues(changed) if issue not in known]
            if wrong:
                raise RequestRefused(f"The map would be invalid: {wrong[0].partition(': ')[2]}.")
            self.maps.put(self._signed(changed))
            with self._lock:
                self._earlier.setdefault(resource_id, deque(maxlen=STEPS)).append(before)
        return self.maps.get(resource_id)

    def undo(self, resource_id: str) -> ResourceMap:
        """Undo the last edit of this process, and return the map. Raise `RequestRefused` if there is none, or if the map was
        changed otherwise since.
        """
        with self.locks.holding("ids"):
            with self._lock:
                steps = self._earlier.get(resource_id)
                before = steps.pop() if steps else None
            current = self.maps.get(resource_id)
            if before is None or current.mapper != EDITED or current.source_digest != before.source_digest:
                raise RequestRefused("There is no edit to undo.")
            self.maps.put(before)
        return self.maps.get(resource_id)

    def original(self, resource_id: str) -> ResourceMap:
        """Use the map of the mapper again, and return it. The edited one stays an edition.

        Raise `RequestRefused` if the map is not edited.
        """
        with self.locks.holding("ids"):
            current = self.maps.get(resource_id)
            others = [each for each in self.maps.editions(resource_id) if each.mapper != EDITED]
            made = [each for each in others if current.structure_by in (each.mapper, each.structure_by)]
            if current.mapper != EDITED or not made:
                raise RequestRefused("This map was not edited.")
            self.maps.put(max(made, key=lambda each: each.created_at))
            with self._lock:
                self._earlier.pop(resource_id, None)
        return self.maps.get(resource_id)

    def _signed(self, changed: ResourceMap) -> ResourceMap:
        metadata = dict(changed.metadata)
        if changed.mapper != EDITED and changed.structure_by is None and changed.mapper is not None:
            metadata["structure_by"] = changed.mapper.to_metadata()
        metadata["mapper"] = EDITED.to_metadata()
        return evolve(changed, metadata=metadata, created_at=self.clock.now())
