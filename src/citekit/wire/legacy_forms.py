"""Converts older and foreign forms of maps to the current form.

These are the form of citekit 0.1 and 0.2 (nulls, `pages` or `lines` next to the location), the older flat form (no
location object), and the form on the architecture page (`metadata.title`, `metadata.type`, `context` for `summary`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citekit.domain.modality import Modality
from citekit.wire.locations import LOCATION_FIELDS, modality_by_fields, modality_of

DEPTH_LIMIT = 64
"""Maximum number of levels of nodes in a map."""

EPOCH = "1970-01-01T00:00:00Z"
"""The creation time of maps that do not state it."""


class NestedTooDeeplyError(ValueError):
    """Raised if the nodes of a map are nested deeper than `DEPTH_LIMIT` levels."""


def strict_map(data: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the plain data of a map to the current form.

    Values that are not recognized stay unchanged, so that they are reported later. Raise `NestedTooDeeplyError`.
    """
    plain = without_nulls(data)
    metadata = plain.get("metadata", {})
    known = metadata if isinstance(metadata, Mapping) else {}
    nodes = plain.get("nodes", [])
    word = plain.get("type", known.get("type"))
    modality = modality_of(word) if word is not None else _modality_of_nodes(nodes)
    return {
        **plain,
        "type": modality.value if modality else word,
        "title": plain.get("title", known.get("title", plain.get("resource_id"))),
        "source_path": plain.get("source_path", ""),
        "metadata": metadata,
        "created_at": plain.get("created_at", EPOCH),
        "nodes": [strict_node(node, modality) for node in nodes] if isinstance(nodes, list) else nodes,
    }


def strict_node(data: object, modality: Modality | None, depth: int = 1) -> object:
    """Convert the plain data of a node and its descendants to the current form.

    `modality` is that of the map, if known. `depth` is the level of the node, from 1. Raise `NestedTooDeeplyError`.
    """
    if depth > DEPTH_LIMIT:
        raise NestedTooDeeplyError(f"nodes are nested more than {DEPTH_LIMIT} levels deep")
    if not isinstance(data, Mapping):
        return data
    plain = without_nulls(data)
    children = plain.get("children", [])
    node: dict[str, Any] = {key: plain[key] for key in ("id", "title", "type", "summary") if key in plain}
    if isinstance(node.get("id"), str):
        node.setdefault("title", node["id"].rpartition(".")[2])
    node.setdefault("type", "section")
    if "summary" not in node and "context" in plain:
        node["summary"] = plain["context"]
    node["location"] = _strict_location(plain, modality)
    node["children"] = (
        [strict_node(child, modality, depth + 1) for child in children] if isinstance(children, list) else children
    )
    return node


def without_nulls(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data` without keys whose value is None, which means that they are absent."""
    return {key: value for key, value in data.items() if value is not None}


def _strict_location(node: Mapping[str, Any], modality: Modality | None) -> object:
    written = node.get("location", {})
    if not isinstance(written, Mapping):
        return written
    location = without_nulls(written)
    if location.keys().isdisjoint(LOCATION_FIELDS):
        location.update({field: node[field] for field in LOCATION_FIELDS if field in node})
    if not location:
        return None
    if "modality" not in location:
        known = modality if modality is not Modality.VIRTUAL else None
        guessed = known or modality_by_fields(location)
        if guessed is not None:
            location["modality"] = guessed.value
    return location


def _modality_of_nodes(nodes: object) -> Modality | None:
    if not isinstance(nodes, list):
        return None
    for node in nodes:
        if isinstance(node, Mapping):
            fields = node.get("location") if isinstance(node.get("location"), Mapping) else node
            found = modality_of(fields.get("modality")) or modality_by_fields(fields) if fields else None
            if found is not None:
                return found
    return None
