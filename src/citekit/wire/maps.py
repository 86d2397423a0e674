"""Converts maps to and from plain data and JSON, in the form that the reference of the MCP tools describes.

`metadata.map_version` is the version of the form. Maps of version 1 and maps without one (by citekit 0.1 or 0.2, a
person, or another program) are read leniently; a later version is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from citekit.domain.distribution import UPDATE_COMMAND
from citekit.domain.errors import FaultyAnswer, LocationMalformed, VersionTooNew
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.wire.fast_path import read_map
from citekit.wire.indented import indented
from citekit.wire.locations import BoxOrder, from_plain, to_plain
from citekit.wire.timestamps import format_timestamp

MAP_VERSION = 1
"""The version of the form that `to_plain_map` writes."""

SIZE_LIMIT = 256 * 1024 * 1024
"""Maximum number of characters of the JSON text of a map, and of bytes of a file that `citekit validate` reads."""

DIGITS_LIMIT = 100
"""Maximum number of digits of a whole number."""


def to_plain_map(resource_map: ResourceMap) -> dict[str, Any]:
    """Return the map as plain data for JSON."""
    return {
        "resource_id": resource_map.resource_id,
        "type": resource_map.modality.value,
        "title": resource_map.title,
        "source_path": resource_map.source_path,
        "metadata": {**resource_map.metadata, "map_version": MAP_VERSION},
        "nodes": [to_plain_node(node) for node in resource_map.nodes],
        "created_at": format_timestamp(resource_map.created_at),
    }


def from_plain_map(data: object, where: str, box_order: BoxOrder = BoxOrder.CORNERS) -> ResourceMap:
    """Convert plain data to a map. `where` describes the data in messages.

    Raise `FaultyAnswer` with `path: reason` lines if it is not valid.
    """
    if not isinstance(data, Mapping):
        raise FaultyAnswer(where, ["$: a map must be a JSON object"])
    check_version(data, where)
    found = read_map(data) if box_order is BoxOrder.CORNERS else None
    return leniently(data, where, box_order) if found is None else found


def leniently(data: Mapping[str, Any], where: str, box_order: BoxOrder = BoxOrder.CORNERS) -> ResourceMap:
    """Convert plain data in any known form to a map. The parameters and errors are as in `from_plain_map`."""
    from citekit.wire.converter import structure
    from citekit.wire.legacy_forms import NestedTooDeeplyError, strict_map

    try:
        strict = strict_map(data)
    except NestedTooDeeplyError as wrong:
        raise FaultyAnswer(where, [f"nodes: {wrong}"]) from wrong
    if box_order is BoxOrder.SIZE:
        _corners_from_sizes(strict["nodes"], where)
    if isinstance(strict["metadata"], Mapping):
        strict["metadata"] = {key: value for key, value in strict["metadata"].items() if key != "map_version"}
    found: ResourceMap = structure(strict, ResourceMap, where)
    return found


def to_json(resource_map: ResourceMap) -> str:
    """Return the map as the text of a JSON file, with non-ASCII characters unescaped.

    Raise `ValueError` or `TypeError` if JSON cannot represent the metadata.
    """
    return indented(to_plain_map(resource_map)) + "\n"


def from_json(text: str, where: str, box_order: BoxOrder = BoxOrder.CORNERS) -> ResourceMap:
    """Parse the text of a JSON file as a map. Raise `FaultyAnswer` if it is not valid. `where` names the file in
    messages.
    """
    return from_plain_map(plain_from_json(text, where), where, box_order)


def plain_from_json(text: str, where: str) -> Any:
    """Parse the text of a JSON file as plain data. `where` names the file in messages.

    Raise `FaultyAnswer` if it is too long, not JSON, or nested too deeply, or contains NaN, infinity, or numbers that
    are too large.
    """
    if len(text) > SIZE_LIMIT:
        raise FaultyAnswer(where, [f"$: the text is longer than the limit of {SIZE_LIMIT:,} characters"])
    try:
        return json.loads(
            text.removeprefix("\ufeff"), parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
        )
    except json.JSONDecodeError as wrong:
        raise FaultyAnswer(
            where, [f"$: the text is not valid JSON: {wrong.msg} at line {wrong.lineno}, column {wrong.colno}"]
        ) from wrong
    except RecursionError as wrong:
        raise FaultyAnswer(where, ["$: the JSON is nested too deeply"]) from wrong
    except ValueError as wrong:
        raise FaultyAnswer(where, [f"$: {wrong}"]) from wrong


def to_plain_node(node: Node, *, depth: int | None = None) -> dict[str, Any]:
    """Return a node as plain data with `depth` levels of children: all for None, and only their IDs for 0."""
    plain: dict[str, Any] = {"id": node.id, "title": node.title, "type": node.type, "location": to_plain(node.location)}
    if node.summary is not None:
        plain["summary"] = node.summary
    if depth == 0:
        plain["children"] = [{"id": child.id} for child in node.children]
    else:
        below = None if depth is None else depth - 1
        plain["children"] = [to_plain_node(child, depth=below) for child in node.children]
    return plain


def check_version(data: Mapping[str, Any], where: str) -> None:
    """Raise `VersionTooNew` if the map has a later version, or `FaultyAnswer` if its version is invalid."""
    metadata = data.get("metadata")
    version = metadata.get("map_version", MAP_VERSION) if isinstance(metadata, Mapping) else MAP_VERSION
    if version != MAP_VERSION:
        later = isinstance(version, int) and version > MAP_VERSION
        raise (VersionTooNew if later else FaultyAnswer)(
            where,
            [
                f"metadata.map_version: must be {MAP_VERSION}, not {repr(version)[:60]}"
                + (
                    f"; a later version of CiteKit wrote this map, so update CiteKit ({UPDATE_COMMAND})"
                    if later
                    else ""
                )
            ],
        )


def _corners_from_size(location: Mapping[str, Any], node: str, where: str) -> dict[str, Any]:
    try:
        return to_plain(from_plain(location, BoxOrder.SIZE))
    except LocationMalformed as wrong:
        raise FaultyAnswer(where, [f"{node}: {wrong.reason}"]) from wrong


def _corners_from_sizes(nodes: object, where: str) -> None:
    pending = list(nodes) if isinstance(nodes, list) else []
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        location = node.get("location")
        if isinstance(location, dict) and "bbox" in location:
            node["location"] = _corners_from_size(location, f"node {node.get('id')!r}", where)
        children = node.get("children")
        pending.extend(children if isinstance(children, list) else [])


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        raise ValueError(f"the number {shown} is too large")
    return value


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS_LIMIT:
        raise ValueError(f"the number {text[:40]}... has more than {DIGITS_LIMIT} digits")
    return int(text)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a valid number in JSON")
