"""One named part of a resource."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from citekit.domain.locations import Location


@frozen
class Node:
    """A chapter, scene, function, region, ...: a title, a place, and the parts it is made of.

    `id` is unique in its map. `type` is a free word (`chapter`, `scene`, `class`, `figure`). `summary` is one or two
    sentences, taken from the resource or written by a model. Children lie inside the place of their parent.
    """

    id: str
    title: str
    type: str
    location: Location
    summary: str | None = None
    children: tuple[Node, ...] = field(default=(), converter=tuple["Node", ...])

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in reading order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


@frozen
class NodeName:
    """A node by its name: the other way, beside an address, to say which part of what is wanted."""

    resource_id: str
    node_id: str
