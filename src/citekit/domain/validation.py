"""Validates a map. Each issue is one line of the form `path: reason`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citekit.domain.address import fragment_of
from citekit.domain.errors import LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.locations import Cells, Chapter, Location, Pages, TimeSpan, Virtual
from citekit.domain.modality import RECORDINGS, Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

TIME_SLACK = 0.05
"""Maximum number of seconds by which a time range may end after the end of its file: less than two frames of film."""


def map_issues(resource_map: ResourceMap, extent: Extent | None = None) -> list[str]:
    """Return an issue for each location that is outside the file, of the wrong kind, or outside its parent.

    If `extent`, the measured extent of the file, is None, that in the map's metadata is used.
    """
    return list(node_issues(resource_map.nodes, resource_map.modality, extent or resource_map.extent))


def node_issues(nodes: Sequence[Node], modality: Modality, extent: Extent) -> Iterator[str]:
    """Yield the same issues as `map_issues`, for nodes that may not be part of a map yet, with paths such as
    `nodes[3].children[0].location`.
    """
    pending: list[tuple[str, Node, Node | None]] = [(f"nodes[{at}]", node, None) for at, node in enumerate(nodes)]
    pending.reverse()
    while pending:
        path, node, parent = pending.pop()
        reason = location_issue(node.location, modality, extent)
        if reason is None and parent is not None and not is_inside(node.location, parent.location):
            reason = f"{node.id!r} is not inside its parent {parent.id!r}"
        if reason is not None:
            yield f"{path}.location: {reason}"
        pending += [(f"{path}.children[{at}]", child, node) for at, child in enumerate(node.children)][::-1]


def location_issue(location: Location, modality: Modality, extent: Extent) -> str | None:
    """Return the reason why a location cannot be in a file of that modality and extent, or None."""
    if isinstance(location, Virtual):
        return None
    return _of_another_kind(location, modality) or kind_issue(location, extent) or outside_issue(location, extent)


def kind_issue(location: Location, extent: Extent) -> str | None:
    """Return the reason why a document cannot have a location of this kind (pages, chapters, or sheets), or None."""
    pages, chapters, sheets = extent.pages, extent.chapters, extent.sheets
    if sheets is not None and isinstance(location, Pages | Chapter):
        example = fragment_of(Cells(sheets[0][0] if sheets else "Sheet1"))
        return f"the file is a workbook; name a sheet, such as #{example}"
    if sheets is None and isinstance(location, Cells) and (pages is not None or chapters is not None):
        return f"the file is not a workbook; name {'a chapter' if chapters else 'pages'} instead of a sheet"
    if isinstance(location, Pages) and pages is None and chapters is not None:
        return "the file has chapters, not pages; name a chapter, such as #chapter=2"
    if isinstance(location, Chapter) and chapters is None and pages is not None:
        return "the file has pages, not chapters; name pages, such as #pages=2-3"
    return None


def outside_issue(location: Location, extent: Extent) -> str | None:
    """Return the reason why a location is not completely inside the file, or None.

    A time range may end up to `TIME_SLACK` seconds after the end.
    """
    try:
        inside = location.clamp(extent)
    except LocationOutside as wrong:
        return wrong.reason
    if inside == location or (isinstance(location, TimeSpan) and _ends_there(location, inside)):
        return None
    return f"only the part {fragment_of(inside)} of the location is inside the file"


def is_inside(child: Location, parent: Location) -> bool:
    """Return whether `child` is inside `parent`; True if they cannot be compared, because one is virtual or their
    modalities differ.
    """
    if isinstance(child, Virtual) or isinstance(parent, Virtual) or child.modality is not parent.modality:
        return True
    return parent.contains(child)


def _of_another_kind(location: Location, modality: Modality) -> str | None:
    found = location.modality
    if modality in (found, Modality.VIRTUAL) or (found in RECORDINGS and modality in RECORDINGS):
        return None
    return f"the modality of the location is {found.value}, but the type of the map is {modality.value}"


def _ends_there(location: TimeSpan, inside: Location) -> bool:
    """Return whether a time range has no end or ends at most `TIME_SLACK` seconds after `inside`, the range within the
    recording.
    """
    last = inside.end if isinstance(inside, TimeSpan) else None
    return location.end is None or (last is not None and location.end <= last + TIME_SLACK)
