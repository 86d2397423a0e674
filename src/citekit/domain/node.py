"""The nodes of a map."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from citekit.domain.locations import Location


@frozen
class Node:
    """A part of a resource, such as a chapter, scene, function, or region: a title, a location, and children.

    `id` is unique in its map. `type` is a free word (`chapter`, `scene`, `class`, `figure`). `summary` is one or two
    sentences from the resource or from a model. The locations of children lie inside the location of their parent.
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
    """A node, identified by the IDs of its resource and itself: the alternative to an address."""

    resource_id: str
    node_id: str
