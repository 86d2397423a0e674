"""Reads a map and reports all faults with their paths, instead of stopping at the first.

For a valid map, the values are the same as in the result of `from_plain_map`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from citekit.domain.digest import Digest
from citekit.domain.errors import CiteKitError, FaultyAnswer, LocationMalformed
from citekit.domain.ids import check_resource_id
from citekit.domain.lint import nodes_with_paths
from citekit.domain.locations import Location, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire.legacy_forms import EPOCH, NestedTooDeeplyError, strict_map, without_nulls
from citekit.wire.locations import LOCATION_FIELDS, BoxOrder, from_plain
from citekit.wire.maps import check_version
from citekit.wire.timestamps import parse_timestamp

NODES_LIMIT = 1_000_000
"""Maximum number of nodes, because of the memory that they take."""

_UNREADABLE = Virtual("virtual://unreadable")
_MAP_FIELDS = {"resource_id", "type", "title", "source_path", "metadata", "nodes", "created_at", "map_version"}
_NODE_FIELDS = {"id", "title", "type", "location", "summary", "context", "children", "metadata", *LOCATION_FIELDS}
_LOCATION_FIELDS = {"modality", *LOCATION_FIELDS}


@frozen
class LenientMap:
    """A map of which only the readable parts were read.

    `head` is the map without its nodes. `nodes` are at their original positions; one with an unreadable location has a
    virtual location. `faults` and `warnings` are `path: reason` lines.
    """

    head: ResourceMap
    nodes: tuple[Node, ...]
    faults: list[str] = field(factory=list)
    warnings: list[str] = field(factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether the complete map was readable; it may still be invalid."""
        return not self.faults


def read_leniently(data: object, where: str, box_order: BoxOrder = BoxOrder.CORNERS) -> LenientMap:
    """Read as much of a map as possible, and collect the faults. `where` describes the data in messages.

    Raise `FaultyAnswer` if it is not an object, has an unsupported version, or has nodes that are nested too deeply.
    """
    if not isinstance(data, Mapping):
        raise FaultyAnswer(where, ["$: a map must be a JSON object"])
    check_version(data, where)
    try:
        strict = strict_map(data)
    except NestedTooDeeplyError as wrong:
        raise FaultyAnswer(where, [f"nodes: {wrong}"]) from wrong
    reading = _Reading(box_order)
    head = reading.head(strict)
    nodes = reading.nodes(strict["nodes"], "nodes")
    count = sum(1 for _ in nodes_with_paths(nodes))
    if count > NODES_LIMIT:
        reading.faults.append(f"nodes: the map has {count:,} nodes, but the maximum is {NODES_LIMIT:,}")
    warnings = [*_unknown(data, _MAP_FIELDS, "$"), *_unknown_below(data.get("nodes"))]
    return LenientMap(head, nodes, reading.faults, warnings)


@frozen
class _Reading:
    order: BoxOrder
    faults: list[str] = field(factory=list)
    paths: dict[str, str] = field(factory=dict)
    """The path at which each ID occurred first."""

    def head(self, data: Mapping[str, Any]) -> ResourceMap:
        modality = next((each for each in Modality if each.value == data.get("type")), None)
        if modality is None:
            self.faults.append(f"type: must be one of {', '.join(Modality)}, not {_shown(data.get('type'))}")
        metadata = data["metadata"]
        if not isinstance(metadata, Mapping):
            self.faults.append(f"metadata: must be a JSON object, not {_shown(metadata)}")
            metadata = {}
        self._check_hash(metadata)
        return ResourceMap(
            resource_id=self._resource_id(data.get("resource_id")),
            modality=modality or Modality.VIRTUAL,
            title=self._title(data.get("title"), "title"),
            source_path=self._text(data["source_path"], "source_path") or "",
            nodes=(),
            created_at=parse_timestamp(self._moment(data["created_at"])),
            metadata={key: value for key, value in metadata.items() if key != "map_version"},
        )

    def nodes(self, data: object, path: str) -> tuple[Node, ...]:
        if not isinstance(data, list):
            self.faults.append(f"{path}: must be a list, not {_shown(data)}")
            return ()
        return tuple(self._node(each, f"{path}[{at}]") for at, each in enumerate(data))

    def _node(self, data: object, path: str) -> Node:
        if not isinstance(data, Mapping):
            self.faults.append(f"{path}: must be a JSON object, not {_shown(data)}")
            return Node(path, path, "", _UNREADABLE)
        return Node(
            id=self._id(data.get("id"), path),
            title=self._title(data.get("title"), f"{path}.title"),
            type=self._text(data.get("type"), f"{path}.type") or "",
            location=self._location(data.get("location"), path),
            summary=self._text(data.get("summary", ""), f"{path}.summary") or None,
            children=self.nodes(data.get("children", []), f"{path}.children"),
        )

    def _id(self, value: object, path: str) -> str:
        name = self._text(value, f"{path}.id")
        if name is None:
            return path
        if name in self.paths:
            self.faults.append(f"{path}.id: the ID {name!r} is already used by {self.paths[name]}")
        self.paths.setdefault(name, path)
        return name

    def _title(self, value: object, path: str) -> str:
        """Return the title `value`, or, after reporting that it is not text, `path`, so that it is not reported again
        as empty.
        """
        title = self._text(value, path)
        return path if title is None else title

    def _location(self, data: object, path: str) -> Location:
        if not isinstance(data, Mapping):
            self.faults.append(
                f"{path}.location: {'is missing' if data is None else f'must be a location, not {_shown(data)}'}"
            )
            return _UNREADABLE
        try:
            return from_plain(data, self.order)
        except (CiteKitError, ValueError, TypeError, ArithmeticError) as wrong:
            reason = wrong.reason if isinstance(wrong, LocationMalformed) else str(wrong)
            self.faults.append(f"{path}.location.{reason}" if _names_field(reason) else f"{path}.location: {reason}")
            return _UNREADABLE

    def _resource_id(self, value: object) -> str:
        name = self._text(value, "resource_id")
        try:
            return check_resource_id(name) if name is not None else "map"
        except CiteKitError as wrong:
            self.faults.append(f"resource_id: {wrong}")
            return "map"

    def _text(self, value: object, path: str) -> str | None:
        if isinstance(value, str):
            return value
        self.faults.append(f"{path}: {'is missing' if value is None else f'must be a string, not {_shown(value)}'}")
        return None

    def _moment(self, value: object) -> str:
        try:
            parse_timestamp(value if isinstance(value, str) else "")
        except ValueError:
            self.faults.append(f"created_at: must be a time in ISO 8601, not {_shown(value)}")
            return EPOCH
        return str(value)

    def _check_hash(self, metadata: Mapping[str, Any]) -> None:
        said = metadata.get("source_hash")
        try:
            Digest(said) if said is not None else None
        except (ValueError, TypeError):
            self.faults.append(
                f"metadata.source_hash: must be a SHA-256 digest (64 lowercase hexadecimal digits), not {_shown(said)}"
            )


def _names_field(reason: str) -> bool:
    name, colon, _ = reason.partition(": ")
    return bool(colon) and name in _LOCATION_FIELDS


def _unknown_below(data: object) -> Iterator[str]:
    """Yield a warning for each unknown field of the nodes and their locations."""
    pending = [("nodes", data)]
    while pending:
        path, nodes = pending.pop()
        for at, node in enumerate(nodes if isinstance(nodes, list) else ()):
            if isinstance(node, Mapping):
                here = f"{path}[{at}]"
                yield from _unknown(node, _NODE_FIELDS, here)
                location = node.get("location")
                yield from (
                    _unknown(location, _LOCATION_FIELDS, f"{here}.location") if isinstance(location, Mapping) else ()
                )
                pending.append((f"{here}.children", node.get("children")))


def _unknown(data: Mapping[str, Any], known: set[str], path: str) -> Iterator[str]:
    for name in without_nulls(data):
        if name not in known:
            yield f"{path}.{_plain(name)}: unknown field, ignored".removeprefix("$.")


def _plain(name: str) -> str:
    return name if name.isprintable() and len(name) <= 60 else _shown(name)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
