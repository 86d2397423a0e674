"""What is wrong with a map, told as `path: reason` lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citekit.domain.address import Address
from citekit.domain.errors import LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.locations import Cells, Chapter, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

TIME_SLACK = 0.05
"""Seconds by which a child may stand out of its parent, or a node out of its file: less than two frames of film."""

_TIMED = (Modality.VIDEO, Modality.AUDIO)


def map_issues(resource_map: ResourceMap, bounds: Extent | None = None) -> list[str]:
    """Every location outside the file or of another kind of file, and every child outside its parent; none for a sound map.

    `bounds` are those of the file; without, those that the map states are believed.
    """
    return list(node_issues(resource_map.nodes, resource_map.modality, bounds or resource_map.bounds))


def node_issues(nodes: Sequence[Node], modality: Modality, bounds: Extent) -> Iterator[str]:
    """As `map_issues`, of nodes that may be no map yet. Nodes are named by their paths, such as `nodes[3].children[0]`."""
    pending: list[tuple[str, Node, Node | None]] = [(f"nodes[{at}]", node, None) for at, node in enumerate(nodes)]
    pending.reverse()
    while pending:
        path, node, parent = pending.pop()
        reason = location_issue(node.location, modality, bounds)
        if reason is None and parent is not None and not is_inside(node.location, parent.location):
            reason = f"{node.id!r} is not inside its parent {parent.id!r}"
        if reason is not None:
            yield f"{path}.location: {reason}"
        pending += [(f"{path}.children[{at}]", child, node) for at, child in enumerate(node.children)][::-1]


def location_issue(location: Location, modality: Modality, bounds: Extent) -> str | None:
    """Why a place cannot be one of a file of that modality and of those bounds; None where it can."""
    if isinstance(location, Virtual):
        return None
    return _of_another_kind(location, modality) or kind_issue(location, bounds) or outside(location, bounds)


def kind_issue(location: Location, bounds: Extent) -> str | None:
    """Why a location in a document is of a kind that the document does not have; None if it has it."""
    pages, chapters, sheets = bounds.pages, bounds.chapters, bounds.sheets
    if sheets is not None and isinstance(location, Pages | Chapter):
        return f"it is a workbook: name a sheet, such as #sheet={sheets[0][0] if sheets else 'Sheet1'}"
    if sheets is None and isinstance(location, Cells) and (pages is not None or chapters is not None):
        return f"it is no workbook: it has {'chapters' if chapters else 'pages'}"
    if isinstance(location, Pages) and pages is None and chapters is not None:
        return "it is a book without pages: name a chapter, such as #chapter=2"
    if isinstance(location, Chapter) and chapters is None and pages is not None:
        return "it has pages, not chapters: name pages, such as #pages=2-3"
    return None


def outside(location: Location, bounds: Extent) -> str | None:
    """Why a place is not wholly inside, but for `TIME_SLACK`; None where it is."""
    try:
        inside = location.clamp(bounds)
    except LocationOutside as wrong:
        return str(wrong)
    if inside == location or (isinstance(location, TimeSpan) and _ends_there(location, inside)):
        return None
    return f"only {_fragment(inside)} of it is inside the file"


def is_inside(child: Location, parent: Location) -> bool:
    """Whether a node may lie below another: nothing is known of virtual places, or of places of different kinds."""
    if isinstance(child, Virtual) or isinstance(parent, Virtual) or child.modality is not parent.modality:
        return True
    return parent.contains(child)


def _of_another_kind(location: Location, modality: Modality) -> str | None:
    found = location.modality
    if modality in (found, Modality.VIRTUAL) or (found in _TIMED and modality in _TIMED):
        return None
    return f"it is a place in {found.value}, but the map is of {modality.value}"


def _ends_there(location: TimeSpan, inside: Location) -> bool:
    """Whether a span ends where the recording does, or goes on to its end, whenever that is."""
    last = inside.end if isinstance(inside, TimeSpan) else None
    return location.end is None or (last is not None and location.end <= last + TIME_SLACK)


def _fragment(location: Location) -> str:
    return str(Address("x", location)).partition("#")[2]
