"""Say everything that is wrong with a map."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from citekit.application.locating import LocateSource
from citekit.domain.resource_map import ResourceMap
from citekit.domain.soundness import unsound


@frozen
class MapReport:
    """`faults` make a map wrong (`path: reason`); `warnings` are worth knowing."""

    resource_map: ResourceMap
    faults: Sequence[str] = field(converter=tuple[str, ...])
    warnings: Sequence[str] = field(converter=tuple[str, ...])


@frozen
class CheckMap:
    """Holds a map against itself and against its file."""

    locate: LocateSource

    def __call__(self, resource_map: ResourceMap) -> MapReport:
        """The report on a map that could be read at all."""
        warnings = []
        stale = self.locate.staleness(resource_map)
        if stale:
            warnings.append(f"source_path: {stale}")
        if resource_map.source_digest is None:
            warnings.append("metadata.source_hash: missing, so a change of the source will not be noticed")
        if not resource_map.nodes:
            warnings.append("nodes: the map has none")
        return MapReport(resource_map, unsound(resource_map), warnings)
