"""Implements the MCP tool `getStructure`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve
from mcp_types import Tool, ToolAnnotations

from citekit.application.agent_context import TOKEN
from citekit.application.structure import Structure
from citekit.container import Container
from citekit.domain.address import Address
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from citekit.entrypoints.mcp import schemas
from citekit.entrypoints.mcp.answers import Answer
from citekit.entrypoints.mcp.untrusted_text import quoted
from citekit.entrypoints.outline_text import head_line, node_line, outline_lines
from citekit.wire import maps

GET_STRUCTURE = Tool(
    name="getStructure",
    title="Show the structure of a file",
    description=(
        "Returns the tree of chapters, scenes, or functions of a file, with ids and locations. Start with depth: 1. Without "
        "options, returns the map as JSON, in parts if long; with options, one line per node."
    ),
    input_schema=schemas.inputs(
        {
            "resource_id": schemas.text(),
            "node_id": schemas.text("Only this node and below."),
            "depth": schemas.count("1: the top level, or node_id's children."),
            "title_contains": schemas.text(),
            "max_tokens": schemas.count("Budget; higher levels first."),
            "include_chunks": schemas.flag("Also the library's chunks."),
            "cursor": schemas.text("The previous answer's next_cursor."),
        },
        ("resource_id",),
    ),
    output_schema=dict(schemas.STRUCTURE),
    annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
)

_FULL_FORM = frozenset({"resource_id", "cursor"})
"""The arguments that are not options. A call with only these is answered in the form of the specification."""

_NOTE = 90
"""The number of characters reserved for the line about cut nodes."""


def read_structure(app: Container, arguments: Mapping[str, Any]) -> Structure:
    """Run the use case `GetStructure` with the arguments of a call, and raise its errors."""
    options = dict(arguments)
    max_tokens = options.pop("max_tokens", None)
    if max_tokens is None:
        return app.structure(**options)
    outline = app.maps.get(options["resource_id"]).outline
    budget = max_tokens * TOKEN - len(quoted(head_line(outline))) - _NOTE

    def cost(node: Node, depth: int) -> int:
        most = len(node.children)  # the number of hidden children cannot have more digits than this number
        return len(quoted(node_line(node, depth, outline.resource_id, most))) + 1

    return app.structure(**options, budget=budget, cost=cost)


def is_whole_map(found: Structure, arguments: Mapping[str, Any]) -> bool:
    """Return whether the result is the complete map in the form of the specification."""
    return found.whole and _FULL_FORM.issuperset(arguments)


def structure_answer(found: Structure, arguments: Mapping[str, Any]) -> Answer:
    """Return the result for a map or the requested part of it.

    Without options, it has the form of the specification. With options, the text has a line for each node, and the
    structured content only the data in these lines.
    """
    if is_whole_map(found, arguments):
        return map_answer(found.outline)
    if _FULL_FORM.issuperset(arguments):
        return Answer.of(_full_part(found, is_first="cursor" not in arguments))
    return Answer.of(_short_part(found), summary="\n".join(outline_lines(found)))


def map_answer(resource_map: ResourceMap) -> Answer:
    """Return the result for a complete map."""
    return Answer.of(maps.to_plain_map(resource_map))


def _full_part(found: Structure, *, is_first: bool) -> dict[str, Any]:
    """Return a part of a map in the form of the specification, with the counts and the cursor before the nodes."""
    plain = maps.to_plain_map(evolve(found.outline, nodes=found.nodes))
    nodes = plain.pop("nodes")
    _count_children(nodes, found.outline)
    if not is_first:
        plain["metadata"] = {}
    return {**plain, **_extent(found), "nodes": nodes}


def _short_part(found: Structure) -> dict[str, Any]:
    outline = found.outline
    head = {
        "resource_id": outline.resource_id,
        "type": outline.modality.value,
        "title": outline.title,
        "source_path": outline.source_path,
    }
    return {**head, **_extent(found), "nodes": [_short_node(node, outline) for node in found.nodes]}


def _short_node(node: Node, outline: ResourceMap) -> dict[str, Any]:
    place = str(Address(outline.resource_id, node.location))
    _, _, fragment = place.partition("#")
    plain: dict[str, Any] = {"id": node.id, "title": node.title, "type": node.type, "at": fragment or place}
    count = len(outline.find(node.id).children)
    if count > len(node.children):
        plain["child_count"] = count
    if node.children:
        plain["children"] = [_short_node(child, outline) for child in node.children]
    return plain


def _extent(found: Structure) -> dict[str, Any]:
    """Return the fields about completeness, continuation, and the number of nodes."""
    plain: dict[str, Any] = {"truncated": found.next_cursor is not None or found.cut > 0}
    if found.next_cursor is not None:
        plain["next_cursor"] = found.next_cursor
    if found.cut:
        plain["cut_nodes"] = found.cut
    return {**plain, "total_nodes": found.total}


def _count_children(nodes: Sequence[dict[str, Any]], outline: ResourceMap) -> None:
    pending = list(nodes)
    while pending:
        plain = pending.pop()
        count = len(outline.find(plain["id"]).children)
        if count > len(plain["children"]):
            plain["child_count"] = count
        pending.extend(plain["children"])
