"""Applies manual changes to the tree of a map.

Each function returns new nodes. Its parameter `name` (in `added`, `after`) is the ID of a node; if that node does not
exist, the function raises `NodeMissing`. A `MapEdit` is one change as plain data, so that the last change can be undone
by applying all earlier ones again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from operator import is_

from attrs import evolve, frozen

from citekit.domain.address import parse_address
from citekit.domain.errors import LocationMalformed, NodeMissing, RequestRefused
from citekit.domain.ids import node_id as new_id
from citekit.domain.locations import Chapter, Lines, Location, Pages, TimeSpan, Virtual
from citekit.domain.node import Node

TITLE_LIMIT = 500
"""Maximum number of characters of a title that a person enters."""

Nodes = tuple[Node, ...]


class EditKind(StrEnum):
    """The kinds of edits of a node."""

    RENAME = "rename"
    MOVE = "move"
    ADD = "add"
    """Adds a new node after the given node."""
    RAISE = "raise"
    LOWER = "lower"
    REMOVE = "remove"


@frozen
class MapEdit:
    """A change of the node with the ID `node`.

    `title` is the title of a renamed or added node. `place` is the location of a moved or added node, in the form that
    follows `#` in an address.
    """

    kind: EditKind
    node: str
    title: str = ""
    place: str = ""

    @classmethod
    def from_metadata(cls, value: object) -> MapEdit | None:
        """Return the edit that `to_metadata` wrote, or None if `value` is not an edit."""
        if not isinstance(value, Mapping) or value.get("edit") not in list(EditKind):
            return None
        texts = [value.get(name, "") for name in ("node", "title", "place")]
        return cls(EditKind(value["edit"]), *texts) if all(isinstance(each, str) for each in texts) else None

    def to_metadata(self) -> dict[str, str]:
        """Return the edit in the form in which a map stores it. Empty values are left out."""
        values = {"edit": self.kind.value, "node": self.node, "title": self.title, "place": self.place}
        return {name: value for name, value in values.items() if value}

    def applied(self, nodes: Nodes, scheme: str) -> Nodes:
        """Return the changed nodes. `scheme` is the scheme of the map's addresses.

        Raise `AddressMalformed` if the location is not valid, `NodeMissing` if the node does not exist, or
        `RequestRefused` if the change is not possible.
        """
        match self.kind:
            case EditKind.RENAME:
                return renamed(nodes, self.node, self.title)
            case EditKind.MOVE:
                return relocated(nodes, self.node, self._location(scheme))
            case EditKind.ADD:
                return added(nodes, self.node, self.title, self._location(scheme))
            case EditKind.RAISE:
                return raised(nodes, self.node)
            case EditKind.LOWER:
                return lowered(nodes, self.node)
            case EditKind.REMOVE:
                return removed(nodes, self.node)

    def _location(self, scheme: str) -> Location:
        return parse_address(f"{scheme}://x#{self.place}").location


@frozen
class _Family:
    """Sibling nodes, and the position of one of them."""

    nodes: Nodes
    at: int


def renamed(nodes: Nodes, name: str, title: str) -> Nodes:
    """Return the nodes with the title of the node `name` changed.

    Raise `RequestRefused` if the title is empty or too long.
    """
    shown = _checked_title(title)
    return _replaced(nodes, name, lambda node: (evolve(node, title=shown),))


def relocated(nodes: Nodes, name: str, location: Location) -> Nodes:
    """Return the nodes with the location of the node `name` changed.

    The location is extended to include the children of the node, and the nodes above are extended to contain it. Raise
    `RequestRefused` if this is not possible.
    """
    changed = _replaced(nodes, name, lambda node: (evolve(node, location=_around(location, node.children)),))
    return _contained(changed, name)


def lowered(nodes: Nodes, name: str) -> Nodes:
    """Return the nodes after moving the node `name` to the end of the children of its preceding sibling.

    The sibling is extended to contain the node. Raise `RequestRefused` if this is not possible or the node has no
    preceding sibling.
    """
    family = _family(nodes, name)
    if family.at == 0:
        raise RequestRefused("There is no node before this one at its level that could contain it.")
    before, node = family.nodes[family.at - 1], family.nodes[family.at]

    def merged(above: Node) -> Nodes:
        return (evolve(above, location=_hull(above.location, node.location), children=(*above.children, node)),)

    return _contained(_replaced(removed_with_children(nodes, name), before.id, merged), name)


def raised(nodes: Nodes, name: str) -> Nodes:
    """Return the nodes after making the node `name` the next sibling of its parent.

    Raise `RequestRefused` if the node is at the top level.
    """
    node = _family(nodes, name).nodes[_family(nodes, name).at]
    parent = next(
        (each for top in nodes for each in top.walk() if any(child.id == name for child in each.children)), None
    )
    if parent is None:
        raise RequestRefused("This node is already at the top level.")
    return _replaced(removed_with_children(nodes, name), parent.id, lambda above: (above, node))


def removed(nodes: Nodes, name: str) -> Nodes:
    """Return the nodes without the node `name`. Its children take its place.

    Raise `RequestRefused` if no nodes would be left.
    """
    left = _replaced(nodes, name, lambda node: node.children)
    if not left:
        raise RequestRefused("This is the only node of the map, so it cannot be removed.")
    return left


def removed_with_children(nodes: Nodes, name: str) -> Nodes:
    """Return the nodes without the node `name` and everything below it."""
    return _replaced(nodes, name, lambda _: ())


def added(nodes: Nodes, after: str, title: str, location: Location, kind: str = "section") -> Nodes:
    """Return the nodes with a new node of the type `kind` as the next sibling of the node `after`.

    The nodes above are extended to contain it. Raise `RequestRefused` if this is not possible, or if the title is empty
    or too long.
    """
    shown = _checked_title(title)
    taken = {each.id for top in nodes for each in top.walk()}
    parent = after.rpartition(".")[0]
    made = Node(new_id(parent, shown, taken), shown, kind, location)
    return _contained(_replaced(nodes, after, lambda node: (node, made)), made.id)


def _checked_title(title: str) -> str:
    shown = " ".join(title.split())
    if not shown or len(shown) > TITLE_LIMIT:
        raise RequestRefused(f"A title must have 1 to {TITLE_LIMIT} characters.")
    return shown


def _replaced(nodes: Nodes, name: str, change: Callable[[Node], Sequence[Node]]) -> Nodes:
    """Return the nodes with the results of `change` instead of the node `name`."""
    if not any(each.id == name for top in nodes for each in top.walk()):
        raise NodeMissing("", name)
    return _changed(nodes, name, change)


def _changed(nodes: Nodes, name: str, change: Callable[[Node], Sequence[Node]]) -> Nodes:
    """Return the changed nodes, or the same object if no node has this ID or nothing changes."""
    found: list[Node] = []
    for node in nodes:
        if node.id == name:
            found += change(node)
            continue
        children = _changed(node.children, name, change) if node.children else node.children
        found.append(node if children is node.children else evolve(node, children=children))
    return nodes if len(found) == len(nodes) and all(map(is_, found, nodes)) else tuple(found)


def _family(nodes: Nodes, name: str) -> _Family:
    pending = [nodes]
    while pending:
        family = pending.pop()
        for at, node in enumerate(family):
            if node.id == name:
                return _Family(family, at)
            if node.children:
                pending.append(node.children)
    raise NodeMissing("", name)


def _contained(nodes: Nodes, name: str) -> Nodes:
    """Return the nodes, with each ancestor of the node `name` extended to contain it."""
    changed = []
    for node in nodes:
        below = node.id != name and any(each.id == name for each in node.walk())
        if below:
            children = _contained(node.children, name)
            changed.append(evolve(node, location=_around(node.location, children), children=children))
        else:
            changed.append(node)
    return tuple(changed)


def _around(location: Location, children: Sequence[Node]) -> Location:
    for child in children:
        location = _hull(location, child.location)
    return location


def _hull(one: Location, other: Location) -> Location:
    """Return a location that contains both locations, or `one` if `other` is virtual.

    Regions become whole pages. Raise `RequestRefused` if the types differ or cannot be extended.
    """
    if isinstance(other, Virtual) or one.contains(other):
        return one
    try:
        match one, other:
            case Pages(), Pages():
                return Pages.of({*one.numbers, *other.numbers})
            case Lines(), Lines():
                return Lines(min(one.first, other.first), max(one.last, other.last))
            case Chapter(), Chapter():
                first, last = min(one.number, other.number), max(one.last, other.last)
                if first != last or one.chars is None or other.chars is None:
                    return Chapter(first, last=last)
                return Chapter(first, (min(one.chars[0], other.chars[0]), max(one.chars[1], other.chars[1])))
            case TimeSpan(), TimeSpan():
                ends = None if one.end is None or other.end is None else max(one.end, other.end)
                return evolve(one, start=min(one.start, other.start), end=ends)
    except LocationMalformed as wrong:
        raise RequestRefused(f"The location of a parent node cannot be extended: {wrong.reason}.") from wrong
    raise RequestRefused(
        "A node would not be inside its parent, whose location cannot be extended to contain it. Change the "
        "location of the node or of the parent."
    )
