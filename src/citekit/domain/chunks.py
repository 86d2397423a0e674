"""Recognizes the chunks that the library attaches to maps, and hides them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import evolve

from citekit.domain.node import Node

CHUNK = "chunk"
"""The type of chunk nodes. The last part of their IDs begins with it."""

_ID = re.compile(r"(?:.*\.)?chunk_\d+_[0-9a-f]{4}(?:_\d+)?", re.DOTALL)


def is_chunk(node: Node) -> bool:
    """Return whether the library attached this node to the map.

    Nodes of the type `chunk` that another program or a user made usually have other IDs.
    """
    return node.type == CHUNK and not node.children and _ID.fullmatch(node.id) is not None


def without_chunk_children(node: Node) -> Node:
    """Return the node without the chunks among its own children; the same object if it has none."""
    kept = tuple(child for child in node.children if not is_chunk(child))
    return node if len(kept) == len(node.children) else evolve(node, children=kept)


def nodes_without_chunks(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the trees of `nodes` without chunks at any level. Unchanged nodes are the same objects."""
    made: dict[str, Node] = {}
    for node in reversed([each for root in nodes for each in root.walk()]):
        if is_chunk(node):
            continue
        children = tuple(made[child.id] for child in node.children if child.id in made)
        is_unchanged = len(children) == len(node.children) and all(map(_is_same, children, node.children))
        made[node.id] = node if is_unchanged else evolve(node, children=children)
    return tuple(made[node.id] for node in nodes if node.id in made)


def _is_same(one: Node, other: Node) -> bool:
    return one is other
