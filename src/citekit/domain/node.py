"""Defines the nodes of a map, which form a tree."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from citekit.domain.locations import Location


@frozen
class Node:
    """A part of a resource, such as a chapter, scene, function, or region, with a title, a location, and children.

    `id` is unique in its map. `type` is any word, such as `chapter`, `scene`, `class`, or `figure`. `summary` is one or
    two sentences from the resource or from a model. The children's locations lie inside their parent's location.
    """

    id: str
    title: str
    type: str
    location: Location
    summary: str | None = None
    children: tuple[Node, ...] = field(default=(), converter=tuple["Node", ...])

    def walk(self) -> Iterator[Node]:
        """Yield this node and all nodes below it, in reading order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


@frozen
class NodeName:
    """The name of a node: the ID of its resource and the ID of the node. It can be used instead of an address."""

    resource_id: str
    node_id: str
