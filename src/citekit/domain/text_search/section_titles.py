"""Finds the titles that delimit the text of a node, without reading it."""

from __future__ import annotations

from itertools import islice
from typing import TypeGuard

from citekit.domain.evidence import SectionTitles
from citekit.domain.locations import Location, Pages
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

FOLLOWING = 20
"""The maximum number of following nodes whose titles may end a node."""


def titles_around(outline: ResourceMap, node_id: str) -> SectionTitles | None:
    """Return the titles around a node of `outline`, or None if no node of whole pages has that ID."""
    node = outline.find(node_id) if node_id in outline else None
    if node is None or not is_whole(node.location):
        return None
    before, after = _neighbors(outline, node)
    first, last = node.location.numbers[0], node.location.numbers[-1]
    starting = [each.title for each in after if is_whole(each.location) and each.location.numbers[0] == last]
    shared = any(is_whole(each) and each.numbers[-1] >= first for each in before)
    return SectionTitles(node.title, starting, shared)


def is_whole(location: Location) -> TypeGuard[Pages]:
    """Return whether a location consists of whole pages."""
    return isinstance(location, Pages) and location.region is None


def _neighbors(resource_map: ResourceMap, node: Node) -> tuple[list[Location], list[Node]]:
    """Return the locations of the nodes before a node that do not contain it, and the first nodes after its subtree."""
    above = set()
    parent = resource_map.parent(node.id)
    while parent is not None:
        above.add(parent.id)
        parent = resource_map.parent(parent.id)
    walk = iter(resource_map.walk())
    before = []
    for each in walk:
        if each.id == node.id:
            break
        if each.id not in above:
            before.append(each.location)
    below = sum(1 for _ in node.walk()) - 1
    return before, list(islice(walk, below, below + FOLLOWING))
