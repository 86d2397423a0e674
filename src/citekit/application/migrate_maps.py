"""Copies all maps and their editions from one map store to another."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from citekit.domain.errors import CiteKitError, RequestRefused, ResourceMissing, StoreUnavailable
from citekit.domain.ports.map_store import MapStore
from citekit.domain.progress import Progress, silent


@frozen(kw_only=True)
class Migration:
    """The IDs of the copied maps, the number of maps that the target already had, and the reasons for failures by ID."""

    copied: tuple[str, ...]
    there: int
    failed: Mapping[str, str]


@frozen
class MigrateMaps:
    """Copies the maps of `source` to `target`, except those that the target already has."""

    source: MapStore
    target: MapStore

    def __call__(self, progress: Progress = silent) -> Migration:
        """Copy the maps, and read each of them back for comparison. If one map fails, the others are still copied.

        A map of another file, or of another version of the file, under the same ID is not replaced. Raise the errors of
        `MapStore.ids`, or `StoreUnavailable` if a store cannot be accessed.
        """
        copied: list[str] = []
        failed: dict[str, str] = {}
        ids = self.source.ids()
        for number, resource_id in enumerate(ids):
            progress(number, len(ids), resource_id)
            try:
                if self._copy(resource_id):
                    copied.append(resource_id)
            except StoreUnavailable:
                raise
            except CiteKitError as error:
                failed[resource_id] = str(error)
        return Migration(copied=tuple(copied), there=len(ids) - len(copied) - len(failed), failed=failed)

    def _copy(self, resource_id: str) -> bool:
        """Copy one map with its editions, and return whether anything had to be written."""
        mine = self.source.editions(resource_id)
        try:
            theirs = self.target.editions(resource_id)
        except ResourceMissing:
            theirs = ()
        if theirs and theirs[0] == mine[0] and all(each in theirs for each in mine):
            return False
        if theirs and (theirs[0].source_digest, theirs[0].source_path) != (mine[0].source_digest, mine[0].source_path):
            raise RequestRefused(
                f"The store has the ID '{resource_id}' for another file, or for another version of this file: "
                f"{theirs[0].source_path or theirs[0].title}. "
                "Rename one of the two resources (citekit rename), or remove an outdated map (citekit remove), and run the "
                "command again."
            )
        for each in reversed(mine):  # the current map last: the others stay its editions
            self.target.put(each)
        if list(self.target.editions(resource_id))[: len(mine)] != list(mine):
            raise RequestRefused(
                f"The copy of '{resource_id}' in the store differs from its map. Run the command again."
            )
        return True
