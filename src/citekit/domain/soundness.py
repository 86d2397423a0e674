"""What is wrong with a map, told as `path: reason` lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citekit.domain.address import Address
from citekit.domain.bounds import Bounds
from citekit.domain.errors import LocationOutside
from citekit.domain.locations import Location, Virtual
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

TIME_SLACK = 0.05
"""Seconds by which a child may stand out of its parent, or a node out of its file: less than two frames of film."""


def unsound(resource_map: ResourceMap) -> list[str]:
    """Every location outside the file and every child outside its parent; empty for a sound map."""
    return list(_unsound(resource_map.nodes, "nodes", None, resource_map.bounds))


def _unsound(nodes: Sequence[Node], path: str, parent: Node | None, bounds: Bounds) -> Iterator[str]:
    for number, node in enumerate(nodes):
        here = f"{path}[{number}]"
        reason = _outside(node, bounds)
        if reason:
            yield f"{here}.location: {reason}"
        elif parent is not None and not _inside(node, parent):
            yield f"{here}.location: {node.id!r} is not inside its parent {parent.id!r}"
        yield from _unsound(node.children, f"{here}.children", node, bounds)


def _outside(node: Node, bounds: Bounds) -> str | None:
    try:
        inside = node.location.clamp(bounds)
    except LocationOutside as wrong:
        return str(wrong)
    end, last = getattr(node.location, "end", None), getattr(inside, "end", None)
    if end is not None and last is not None and end <= last + TIME_SLACK:
        return None
    if inside != node.location and end is None and last is not None:
        return None
    return None if inside == node.location else f"only {_fragment(inside)} of it is inside the file"


def _fragment(location: Location) -> str:
    return str(Address("x", location)).partition("#")[2]


def _inside(node: Node, parent: Node) -> bool:
    if isinstance(node.location, Virtual) or isinstance(parent.location, Virtual):
        return True
    return node.location.modality is not parent.location.modality or parent.location.contains(node.location)
