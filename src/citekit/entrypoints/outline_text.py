"""Formats a map, or a part of it, as compact lines for agents."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from citekit.application.structure import Structure
from citekit.domain.address import Address
from citekit.domain.extent import extent_text
from citekit.domain.node import Node
from citekit.domain.phrases import counted
from citekit.domain.resource_map import ResourceMap
from citekit.domain.unicode_controls import printable

TITLE_LIMIT = 120
"""The maximum number of characters of a title."""


def outline_lines(found: Structure) -> Iterator[str]:
    """Yield a line about the file, a line for each node below its parent, and a line about nodes that are left out.

    The first line has the part of the addresses before `#`. `+3` after a title means that three children are not shown.
    """
    yield head_line(found.outline)
    pending = [(node, 0) for node in reversed(found.nodes)]
    while pending:
        node, depth = pending.pop()
        left_out = len(found.outline.find(node.id).children) - len(node.children)
        yield node_line(node, depth, found.outline.resource_id, left_out)
        pending.extend((child, depth + 1) for child in reversed(node.children))
    if found.cut:
        yield f"Not shown: {found.cut} of {counted(found.total, 'node')}. Use node_id, or a larger max_tokens."
    elif found.next_cursor is not None:
        yield f"More nodes ({found.total} in all): cursor {found.next_cursor}"
    elif not found.nodes:
        yield "No node matches."


def head_line(outline: ResourceMap) -> str:
    """Return the line about the file."""
    scheme, resource_id = outline.modality.scheme, quote(outline.resource_id, safe="")
    nodes = counted(outline.node_count, "node")
    facts = ", ".join(filter(None, (extent_text(outline.extent), nodes)))
    return f"{scheme}://{resource_id} {_brief(outline.title, TITLE_LIMIT)} ({facts}) {printable(outline.source_path)}"


def node_line(node: Node, depth: int, resource_id: str, left_out: int) -> str:
    """Return the line of a node. `left_out` is the number of children that are not shown."""
    place = str(Address(resource_id, node.location))
    before, hash_, fragment = place.partition("#")
    more = f" +{left_out}" if left_out else ""
    shown = f"{'  ' * depth}{printable(node.id)} {hash_}{fragment or before}"
    return f"{shown} {printable(node.type)}: {_brief(node.title, TITLE_LIMIT)}{more}"


def _brief(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 3].rstrip()}..."
