"""Applies manual corrections to maps.

The corrected map is a separate edition that records its edits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from shlex import quote

from attrs import evolve, frozen

from citekit.domain.errors import AddressMalformed, NodeMissing, RequestRefused
from citekit.domain.map_editing import MapEdit, Nodes
from citekit.domain.mapper_identity import EDITED
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.locks import Locks
from citekit.domain.ports.map_store import MapStore
from citekit.domain.resource_map import ResourceMap
from citekit.domain.validation import map_issues

_EDITS = "edits"
_NOTHING = "There is no edit to undo."
_OTHER_BASE = "The map has changed since it was edited, so single edits cannot be undone. Use the original."


@frozen
class EditMap:
    """Edits maps, and undoes edits, including those of earlier processes. Thread-safe.

    Commands in error messages name the `home`.
    """

    maps: MapStore
    locks: Locks
    clock: Clock
    home: str

    def __call__(self, resource_id: str, edit: MapEdit) -> ResourceMap:
        """Apply `edit` to a map, store the result as the edition `edited`, and return it.

        Raise the errors of `MapStore.get`, `MapStore.put`, and `MapEdit.applied`, and `RequestRefused` if the result is
        invalid or the original would be lost.
        """
        with self.locks.holding("ids"):
            before = self.maps.get(resource_id)
            if before.mapper is None or before.source_digest is None:
                raise self._no_original(before)
            try:
                nodes = edit.applied(before.nodes, before.modality.scheme)
            except NodeMissing as error:
                raise NodeMissing(resource_id, error.node_id) from None
            changed = evolve(before, nodes=nodes)
            wrong = _new_issue(before, changed)
            if wrong is not None:
                raise RequestRefused(f"The map would be invalid: {wrong}.")
            self.maps.put(self._signed(changed, [*edits_of(before), edit]))
        return self.maps.get(resource_id)

    def undo(self, resource_id: str) -> ResourceMap:
        """Undo the last edit, and return the map. Raise `RequestRefused` if there is no edit or it cannot be undone,
        and the errors of `MapStore.get` and `MapStore.put`.
        """
        with self.locks.holding("ids"):
            current = self.maps.get(resource_id)
            edits, base = edits_of(current), self._base(current)
            if not edits:
                raise RequestRefused(_NOTHING)
            if base is None:
                raise self._lost(current)
            before = _repeated(base, edits[:-1])
            if before is None or _repeated(base, edits) != current.outline.nodes:
                raise RequestRefused(_OTHER_BASE)
            rest = edits[:-1]
            self.maps.put(self._signed(evolve(current, nodes=before), rest) if rest else base)
        return self.maps.get(resource_id)

    def original(self, resource_id: str) -> ResourceMap:
        """Restore the mapper's map, and return it. The edited map remains an edition.

        Raise `RequestRefused` if the map is not edited or the mapper's map is no longer stored, and the errors of
        `MapStore.get` and `MapStore.put`.
        """
        with self.locks.holding("ids"):
            current = self.maps.get(resource_id)
            base = self._base(current)
            if base is None:
                raise RequestRefused(_NOTHING) if current.mapper != EDITED else self._lost(current)
            self.maps.put(base)
        return self.maps.get(resource_id)

    def _base(self, edited: ResourceMap) -> ResourceMap | None:
        """Return the edition whose nodes were edited, or None if there is none."""
        if edited.mapper != EDITED:
            return None
        others = [each for each in self.maps.editions(edited.resource_id) if each.mapper != EDITED]
        made = [each for each in others if (each.structure_by or each.mapper) == edited.structure_by]
        return max(made, key=lambda each: each.created_at) if made else None

    def _signed(self, changed: ResourceMap, edits: Sequence[MapEdit]) -> ResourceMap:
        metadata = dict(changed.metadata)
        if changed.structure_by is None and changed.mapper is not None:
            metadata["structure_by"] = changed.mapper.to_metadata()
        metadata["mapper"] = EDITED.to_metadata()
        metadata[_EDITS] = [each.to_metadata() for each in edits]
        return evolve(changed, metadata=metadata, created_at=self.clock.now())

    def _no_original(self, resource_map: ResourceMap) -> RequestRefused:
        return RequestRefused(
            "This map cannot be edited: it lacks the name of its mapper or the digest of its file, so CiteKit could not "
            f"restore the original. {self._map_again(resource_map)}"
        )

    def _lost(self, resource_map: ResourceMap) -> RequestRefused:
        return RequestRefused(f"The original map is no longer stored. {self._map_again(resource_map)}")

    def _map_again(self, resource_map: ResourceMap) -> str:
        path = quote(resource_map.source_path) if resource_map.source_path else "FILE"
        return (
            f"To map the file again, run: citekit ingest {path} --id {quote(resource_map.resource_id)} --force --home "
            f"{quote(self.home)}"
        )


def edits_of(resource_map: ResourceMap) -> Sequence[MapEdit]:
    """Return the edits that produced an edited map, in order; none if the map is not edited."""
    kept = resource_map.metadata.get(_EDITS) if resource_map.mapper == EDITED else None
    return [edit for each in kept if (edit := MapEdit.from_metadata(each))] if isinstance(kept, list | tuple) else []


def _repeated(base: ResourceMap, edits: Sequence[MapEdit]) -> Nodes | None:
    """Return the nodes of `base` after `edits`, or None if an edit cannot be applied."""
    nodes = base.outline.nodes
    try:
        for edit in edits:
            nodes = edit.applied(nodes, base.modality.scheme)
    except (NodeMissing, RequestRefused, AddressMalformed):
        return None
    return nodes


def _new_issue(before: ResourceMap, changed: ResourceMap) -> str | None:
    """Return an issue that the map did not have before, or None. Paths are not compared, because edits shift them."""
    new = Counter(each.partition(": ")[2] for each in map_issues(changed))
    return next(iter(new - Counter(each.partition(": ")[2] for each in map_issues(before))), None)
