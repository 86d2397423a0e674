"""Reports the errors in a map, and the changes that would fix them safely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from citekit.application.locate_source import LocateSource
from citekit.application.measure_extent import MeasureSource
from citekit.domain.errors import CiteKitError, SourceChanged
from citekit.domain.extent import Extent, extent_metadata, mismatches
from citekit.domain.lint import display_title, nodes_with_paths, order_issues, title_issue
from citekit.domain.locations import Virtual
from citekit.domain.modality import RECORDINGS, Modality
from citekit.domain.node import Node
from citekit.domain.repair import repairs
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.validation import node_issues


@frozen
class Change:
    """A proposed fix: the value at `path` in the map (a location, a title, or metadata) changes from `before` to
    `after`.
    """

    path: str
    before: object
    after: object
    reason: str


@frozen
class MapReport:
    """The result of validating a map.

    `faults` and `warnings` are texts of the form `path: reason`; only faults make the map invalid. `changes` are fixes
    that can be applied safely. `measured` is true if locations were checked against the extent of the file itself.
    """

    resource_map: ResourceMap
    nodes: int
    faults: Sequence[str] = field(converter=tuple[str, ...])
    warnings: Sequence[str] = field(converter=tuple[str, ...])
    changes: Sequence[Change] = field(default=(), converter=tuple[Change, ...])
    measured: bool = False


@frozen
class ValidateMap:
    """Checks whether a map is consistent and whether it agrees with its source file."""

    locate: LocateSource
    measure: MeasureSource

    def __call__(self, resource_map: ResourceMap, nodes: Sequence[Node] | None = None) -> MapReport:
        """Validate a map and return the report.

        `nodes` replaces the nodes of the map, for nodes that a `ResourceMap` cannot have, such as those with duplicate
        IDs. Unless the source file is available, unchanged, and measurable, locations are checked against the extent in
        the map, and no changes to them are proposed.
        """
        seen = _Seen(resource_map, resource_map.nodes if nodes is None else nodes)
        source = self._source(seen)
        true = self._extent(seen, source)
        seen.faults.extend(node_issues(seen.nodes, resource_map.modality, true or resource_map.extent))
        if true is not None:
            seen.changes.extend(_moves(seen, true))
        _look_at_names(seen)
        seen.warnings.extend(order_issues(seen.nodes))
        if not seen.nodes:
            seen.warnings.append("nodes: the map has no nodes")
        count = sum(1 for _ in nodes_with_paths(seen.nodes))
        return MapReport(resource_map, count, seen.faults, seen.warnings, seen.changes, measured=true is not None)

    def _source(self, seen: _Seen) -> Source | None:
        """Return the source file of the map, or None if it cannot be used. Add the problems found to `seen`."""
        resource_map = seen.resource_map
        if resource_map.source_digest is None:
            seen.warnings.append("metadata.source_hash: no valid digest, so changes to the source cannot be detected")
        if not resource_map.source_path and all(
            isinstance(node.location, Virtual) for _, node in nodes_with_paths(seen.nodes)
        ):
            return None
        try:
            source = self.locate(resource_map)
        except SourceChanged as changed:
            seen.faults.append(f"metadata.source_hash: the file at {changed.path} has changed, or is another file")
            return None
        except CiteKitError as error:
            stale = self.locate.staleness(resource_map)
            seen.warnings.append(f"source_path: {stale or str(error).rstrip('.')}")
            return None
        moved = self.locate.moved(resource_map, source)
        if moved is not None:
            seen.warnings.append(f"source_path: {moved}")
        _look_at_kind(seen, source)
        return source

    def _extent(self, seen: _Seen, source: Source | None) -> Extent | None:
        """Return the measured extent of the source file, or None. Add differences and problems to `seen`."""
        if source is None:
            return None
        reach = self.measure.of(source)
        if reach.extent is None:
            seen.warnings.append(f"source_path: the file cannot be measured: {(reach.doubt or '').rstrip('.')}")
            return None
        facts = extent_metadata(reach.extent)
        for name, said, found in mismatches(seen.resource_map.extent, reach.extent):
            if found is None:
                seen.faults.append(f"metadata.{name}: {_shown(said)}, but files of this type have none")
                continue
            reason = "the file has another value"
            seen.faults.append(f"metadata.{name}: {_shown(said)}, but the file has {_shown(found)}")
            before = seen.resource_map.metadata.get(name)
            seen.changes.append(Change(f"metadata.{name}", before, _with_state(before, facts[name]), reason))
        return reach.extent


@frozen
class _Seen:
    """The map and nodes to validate, and the faults, warnings, and changes found so far."""

    resource_map: ResourceMap
    nodes: Sequence[Node]
    faults: list[str] = field(factory=list)
    warnings: list[str] = field(factory=list)
    changes: list[Change] = field(factory=list)


def _moves(seen: _Seen, true: Extent) -> Iterator[Change]:
    for each in repairs(seen.nodes, seen.resource_map.modality, true):
        yield Change(f"{each.path}.location", each.before, each.after, each.reason)


def _look_at_kind(seen: _Seen, source: Source) -> None:
    said, found = seen.resource_map.modality, source.format.modality
    if said not in (found, Modality.VIRTUAL) and not (said in RECORDINGS and found in RECORDINGS):
        seen.faults.append(f"type: {said}, but the type of the file is {found} (format {source.format.name})")


def _look_at_names(seen: _Seen) -> None:
    head = seen.resource_map
    named = Node(head.resource_id, head.title, "map", Virtual("virtual://map"))
    for path, node in [("", named), *((f"{path}.", node) for path, node in nodes_with_paths(seen.nodes))]:
        reason = title_issue(node.title)
        if reason is not None:
            seen.faults.append(f"{path}title: {reason}")
            seen.changes.append(Change(f"{path}title", node.title, display_title(node), f"it {reason}"))
        wrong_id = title_issue(node.id) if path else None
        if wrong_id is not None:
            seen.faults.append(f"{path}id: {wrong_id}")


def _with_state(before: object, after: object) -> object:
    """Return the sheets in `after`, with the additional properties (such as hidden) of the sheets in `before`.

    Return `after` unchanged if it is not a list of sheets.
    """
    known = {each["name"]: each for each in _mappings(before) if isinstance(each.get("name"), str)}
    return [{**known.get(each["name"], {}), **each} for each in _mappings(after)] or after


def _mappings(value: object) -> Iterator[Mapping[str, object]]:
    yield from (each for each in (value if isinstance(value, list | tuple) else ()) if isinstance(each, Mapping))


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
