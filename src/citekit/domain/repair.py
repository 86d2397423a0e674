"""Repairs locations of a map without making any citation point to different content.

A location that ends beyond the end of the file, or a child that ends beyond its parent, is shortened. It then cites
less content, but no other content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from citekit.domain.errors import LocationMalformed, LocationOutside
from citekit.domain.extent import Extent
from citekit.domain.locations import Box, Cells, Chapter, Lines, Location, Pages, TimeSpan
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.validation import is_inside, kind_issue, outside_issue


@frozen
class Repair:
    """A change of the location of the node at `path`, with the reason."""

    path: str
    before: Location
    after: Location
    reason: str


def repairs(nodes: Sequence[Node], modality: Modality, extent: Extent) -> Iterator[Repair]:
    """Yield the safe changes of the nodes' locations, for parents before their children. `extent` is that of the file
    itself.
    """
    pending: list[tuple[str, Node, Location | None]] = [(f"nodes[{at}]", node, None) for at, node in enumerate(nodes)]
    pending.reverse()
    while pending:
        path, node, above = pending.pop()
        location = node.location
        if location.modality is modality and kind_issue(location, extent) is None:
            location, reason = _repaired(location, above, extent)
            if location != node.location:
                yield Repair(path, node.location, location, reason)
        pending += [(f"{path}.children[{at}]", child, location) for at, child in enumerate(node.children)][::-1]


def _repaired(location: Location, above: Location | None, extent: Extent) -> tuple[Location, str]:
    ends = []
    if outside_issue(location, extent) is not None:
        try:
            location = location.clamp(extent)
        except LocationOutside:
            return location, ""
        ends.append("beyond the end of the file")
    if above is not None and not is_inside(location, above):
        cut = shortened(location, above)
        if cut is not None:
            location = cut
            ends.append("beyond its parent")
    return location, f"the location extended {' and '.join(ends)}"


def shortened(child: Location, parent: Location) -> Location | None:
    """Return `child`, cut at the end of `parent`, or None if it does not begin inside `parent` or they cannot be
    compared.
    """
    try:
        cut = _shortened(child, parent)
    except LocationMalformed:
        return None
    return cut if cut is not None and parent.contains(cut) else None


def _shortened(child: Location, parent: Location) -> Location | None:
    match child, parent:
        case Lines(), Lines():
            return Lines(child.first, min(child.last, parent.last))
        case TimeSpan(), TimeSpan():
            ends = [end for end in (child.end, parent.end) if end is not None]
            return evolve(child, end=min(ends, default=None))
        case Pages(), Pages():
            return _fewer_pages(child, parent)
        case Chapter(), Chapter():
            return _fewer_chapters(child, parent)
        case Box(), Box():
            return Box(child.x1, child.y1, min(child.x2, parent.x2), min(child.y2, parent.y2))
        case Cells(first=tuple() as first, last=tuple() as last), Cells(last=tuple() as end):
            return Cells(child.sheet, first, (min(last[0], end[0]), min(last[1], end[1])))
    return None


def _fewer_pages(child: Pages, parent: Pages) -> Pages | None:
    """Return `child` without the pages from the first one that is not in `parent`, or with its region cut to that of
    `parent`; None if that is not possible.
    """
    there = set(parent.numbers)
    count = next((at for at, page in enumerate(child.numbers) if page not in there), len(child.numbers))
    if child.region is None or parent.region is None or not count:
        return Pages(child.numbers[:count], child.region) if count else None
    region = shortened(child.region, parent.region) if not parent.region.contains(child.region) else child.region
    return Pages(child.numbers, region) if isinstance(region, Box) else None


def _fewer_chapters(child: Chapter, parent: Chapter) -> Chapter | None:
    if child.chars is None:
        return Chapter(child.number, last=min(child.last, parent.last)) if parent.chars is None else None
    if parent.chars is None or child.number != parent.number:
        return None
    return Chapter(child.number, (child.chars[0], min(child.chars[1], parent.chars[1])))
