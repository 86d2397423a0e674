"""Defines the nodes of a map, which form a tree."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from citekit.domain.locations import Location


@frozen
class Node:
    """A part of a resource, with a title, a location, and children.

    `id` is unique in its map. `type` is a word such as `chapter`, `scene`, `class`, or `figure`.
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
    """The IDs of a resource and of one of its nodes. They can be used instead of an address."""

    resource_id: str
    node_id: str
