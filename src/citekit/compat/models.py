"""Provides the data models of citekit 0.2."""

from __future__ import annotations

import json
from abc import ABCMeta
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Self, cast

from attrs import asdict, define, evolve, field

from citekit import domain
from citekit.domain.evidence import Evidence
from citekit.domain.node import Node as DomainNode
from citekit.domain.resource_map import ResourceMap as DomainMap
from citekit.wire import locations, maps

ResourceType = str
"""document, video, audio, image, text, or virtual."""


class _Model(metaclass=ABCMeta):  # noqa: B024 - only for `register`, below
    """The base class of the models, with the pydantic methods that programs for citekit 0.2 use."""

    __slots__ = ()

    def model_dump(
        self,
        *,
        mode: str = "python",
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
        exclude_none: bool = False,
    ) -> dict[str, Any]:
        """Return the fields as plain data. `mode="json"` converts times to text and tuples to lists.

        `include` and `exclude` are names of fields, and `exclude_none` omits fields whose value is None.
        """
        plain: dict[str, Any] = asdict(self)  # type: ignore[arg-type]
        plain = {name: value for name, value in plain.items() if include is None or name in include}
        plain = {name: value for name, value in plain.items() if exclude is None or name not in exclude}
        plain = _jsonable(plain) if mode == "json" else plain
        return _without_none(plain) if exclude_none else plain

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        """Return the fields as JSON. `options` are those of `model_dump`."""
        separators = None if indent is not None else (",", ":")
        return json.dumps(
            self.model_dump(mode="json", **options), indent=indent, separators=separators, ensure_ascii=False
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields in `update` replaced. `deep` copies the values, too."""
        made: Any = deepcopy(self) if deep else self
        return cast("Self", evolve(made, **(update or {})))

    @classmethod
    def model_validate(cls, data: Mapping[str, Any] | _Model) -> Self:
        """Create a model from plain data: a mapping of field names to values. A model is copied."""
        if isinstance(data, _Model):
            data = data.model_dump()
        return cls(**data)

    @classmethod
    def model_validate_json(cls, data: str | bytes) -> Self:
        """Create a model from JSON. Raise `ValueError` if it is not a JSON object."""
        plain = json.loads(data)
        if not isinstance(plain, dict):
            raise ValueError("The JSON must be an object.")  # noqa: TRY004 - as pydantic did
        return cls.model_validate(plain)


def _as_tuple(value: Any) -> Any:
    """Return a list, such as one from JSON, as a tuple, and any other value unchanged."""
    return tuple(value) if isinstance(value, list) else value


@define(eq=True)
class Location(_Model):
    """A location in a file. Only `modality` and the fields that apply to it are set."""

    modality: str
    pages: list[int] | None = None
    lines: tuple[int, int] | None = field(default=None, converter=_as_tuple)
    start: float | None = None
    end: float | None = None
    bbox: tuple[float, float, float, float] | None = field(default=None, converter=_as_tuple)
    virtual_address: str | None = None
    chapter: int | list[int] | None = None
    chars: tuple[int, int] | None = field(default=None, converter=_as_tuple)
    sheet: str | None = None
    cells: str | None = None


def _as_location(value: Location | Mapping[str, Any] | domain.locations.Location) -> Location:
    if isinstance(value, Location):
        return value
    if isinstance(value, Mapping):
        return Location(**value)
    return location_of(value)


def _as_nodes(values: Sequence[Node | Mapping[str, Any]]) -> list[Node]:
    return [value if isinstance(value, Node) else Node(**value) for value in values]


@define(eq=True)
class Node(_Model):
    """A node of a map: a part of a resource, such as a chapter."""

    id: str
    title: str | None = None
    type: str = field(kw_only=True)
    location: Location = field(kw_only=True, converter=_as_location)
    summary: str | None = None
    lines: tuple[int, int] | None = None
    children: list[Node] = field(factory=list, converter=_as_nodes)


def _now() -> datetime:
    return datetime.now(UTC)


def _as_time(value: datetime | str) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


@define(eq=True)
class ResourceMap(_Model):
    """The map of a resource: its source file and a tree of nodes."""

    resource_id: str
    type: str
    title: str
    source_path: str
    metadata: dict[str, Any] | None = None
    nodes: list[Node] = field(factory=list, converter=_as_nodes)
    created_at: datetime = field(factory=_now, converter=_as_time)

    def get_node(self, node_id: str) -> Node | None:
        """Return the node with that ID at any level, or None if there is no such node."""
        return next((node for node in _walk(self.nodes) if node.id == node_id), None)

    def list_node_ids(self) -> list[str]:
        """Return the IDs of all nodes in reading order."""
        return [node.id for node in _walk(self.nodes)]


@define(eq=True)
class ResolvedEvidence(_Model):
    """The evidence of a node. `output_path` is the path of the extracted file, or None if nothing was extracted."""

    output_path: str | None = field(default=None, kw_only=True)
    modality: str = field(kw_only=True)
    address: str = field(kw_only=True)
    node: Node = field(kw_only=True)
    resource_id: str = field(kw_only=True)


ResourceMap.register(DomainMap)
Node.register(DomainNode)


def location_of(location: domain.locations.Location) -> Location:
    """Convert a location of the current version to the model of citekit 0.2."""
    plain = locations.to_plain(location)
    for pair in ("lines", "bbox", "chars"):
        if pair in plain:
            plain[pair] = tuple(plain[pair])
    return Location(**plain)


def node_of(node: DomainNode) -> Node:
    """Convert a node of the current version, with its children, to the model of citekit 0.2."""
    return Node(
        id=node.id,
        title=node.title,
        type=node.type,
        location=location_of(node.location),
        summary=node.summary,
        children=[node_of(child) for child in node.children],
    )


def map_of(resource_map: DomainMap) -> ResourceMap:
    """Convert a map of the current version to the model of citekit 0.2."""
    return ResourceMap(
        resource_id=resource_map.resource_id,
        type=resource_map.modality.value,
        title=resource_map.title,
        source_path=resource_map.source_path,
        metadata=dict(resource_map.metadata),
        nodes=[node_of(node) for node in resource_map.nodes],
        created_at=resource_map.created_at,
    )


def domain_map(resource_map: ResourceMap) -> DomainMap:
    """Convert a map of citekit 0.2 to the current version. Raise `FaultyAnswer` if it is invalid."""
    return maps.from_plain_map(resource_map.model_dump(mode="json"), f"The map '{resource_map.resource_id}'")


def evidence_of(evidence: Evidence, node: DomainNode) -> ResolvedEvidence:
    """Convert evidence of `node` from the current version to the model of citekit 0.2."""
    return ResolvedEvidence(
        output_path=None if evidence.output_path is None else str(evidence.output_path),
        modality=evidence.location.modality.value,
        address=str(evidence.address),
        node=node_of(node),
        resource_id=evidence.resource_id,
    )


def _walk(nodes: Sequence[Node]) -> Sequence[Node]:
    found: list[Node] = []
    for node in nodes:
        found.append(node)
        found.extend(_walk(node.children))
    return found


def _jsonable(value: Any) -> Any:
    match value:
        case dict():
            return {key: _jsonable(each) for key, each in value.items()}
        case list() | tuple():
            return [_jsonable(each) for each in value]
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value


def _without_none(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_none(each) for key, each in value.items() if each is not None}
        case list():
            return [_without_none(each) for each in value]
    return value
