"""Maps that are exactly as we write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire.finite import check_numbers
from citekit.wire.lenient import DEPTH_LIMIT
from citekit.wire.moments import read_moment
from citekit.wire.well_formed import MODALITIES, NOT_WELL_FORMED, UnusualError, read_location, text


def read_map(data: Mapping[str, Any]) -> ResourceMap | None:
    """The map that `data` means, or None where anything in it is unusual or wrong."""
    try:
        metadata = data["metadata"]
        if type(metadata) is not dict:
            return None
        check_numbers(metadata)
        return ResourceMap(
            resource_id=text(data["resource_id"]),
            modality=MODALITIES[data["type"]],
            title=text(data["title"]),
            source_path=text(data["source_path"]),
            nodes=_nodes(data["nodes"], DEPTH_LIMIT),
            created_at=read_moment(text(data["created_at"])),
            metadata={key: value for key, value in metadata.items() if key != "map_version"},
        )
    except NOT_WELL_FORMED:
        return None


def _nodes(data: Any, levels: int) -> tuple[Node, ...]:
    if type(data) is not list:
        raise UnusualError
    return tuple([_node(each, levels) for each in data]) if data else ()


def _node(data: Any, levels: int) -> Node:
    if type(data) is not dict or not levels:
        raise UnusualError
    name, title, kind, summary = data["id"], data["title"], data["type"], data.get("summary")
    if not (type(name) is type(title) is type(kind) is str and (type(summary) is str or "summary" not in data)):
        raise UnusualError
    if summary is None and "context" in data:
        raise UnusualError
    return Node(name, title, kind, read_location(data["location"]), summary, _nodes(data["children"], levels - 1))
