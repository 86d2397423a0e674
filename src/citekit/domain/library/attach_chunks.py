"""Attaches chunks to a map as leaves."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from attrs import evolve, field, frozen

from citekit.domain.ids import node_id
from citekit.domain.library.extracted_text import ExtractedText
from citekit.domain.library.sections import BookSection, sections
from citekit.domain.locations import Location
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

CHUNK = "chunk"
"""The type of chunk nodes."""

Mark = tuple[int, int, Location, str, str | None]
"""A chunk to attach: the characters (start, end) of the extracted text, the location, the title, and the summary."""

_OURS = re.compile(r"(?:.*\.)?chunk_\d+_[0-9a-f]{4}(?:_\d+)?", re.DOTALL)


@frozen
class AttachedChunks:
    """A map with chunks, and the IDs of their nodes in the order of the given chunks."""

    resource_map: ResourceMap
    ids: tuple[str, ...] = field(converter=tuple[str, ...])


def with_chunks(resource_map: ResourceMap, extracted_text: ExtractedText, placed: Sequence[Mark]) -> AttachedChunks:
    """Return the map with a leaf of the type `chunk` for each of `placed`. Earlier chunks are removed.

    A chunk becomes a child of the deepest node whose text contains the chunk's text and whose location contains its
    location. If there is none, the parent is the deepest node whose location does and whose text contains the chunk's
    end, or else the top level. The ID consists of the parent's ID, `chunk_1`, `chunk_2`, ..., and four hexadecimal
    digits that depend on the range, so that the ID of a chunk with other limits becomes unknown instead of naming
    another text. The chunk precedes the first sibling that begins after it.
    """
    bare = without_chunks(resource_map)
    found = sections(extracted_text, bare.nodes)
    homes = _Homes(bare, found)
    taken = {node.id for node in bare.walk()}
    below: defaultdict[str, list[tuple[int, Node]]] = defaultdict(list)
    ids: list[str] = []
    for start, end, location, title, summary in placed:
        home = homes.of(start, end, location)
        name = node_id(home, f"{CHUNK}_{len(below[home]) + 1}_{_mark(start, end)}", taken)
        taken.add(name)
        ids.append(name)
        below[home].append((start, Node(name, title, CHUNK, location, summary)))
    begins = {section.node_id: section.start for section in found if section.node_id}
    return AttachedChunks(evolve(bare, nodes=_rebuilt(bare, below, begins)), ids)


def without_chunks(resource_map: ResourceMap) -> ResourceMap:
    """Return the map without the leaves that `with_chunks` added."""
    return evolve(resource_map, nodes=_rebuilt(resource_map, {}, {}))


def _mark(start: int, end: int) -> str:
    return f"{crc32(f'{start}-{end}'.encode()) & 0xFFFF:04x}"


class _Homes:
    """Finds the parent node of a chunk."""

    def __init__(self, resource_map: ResourceMap, found: Sequence[BookSection]) -> None:
        self._map, self._found = resource_map, found
        self._starts = [section.start for section in found]
        self._above = list(_parents(found))

    def of(self, start: int, end: int, location: Location) -> str:
        """Return the ID of the parent, or "" for the top level."""
        for section in self._around(start):
            if end <= section.end and self._holds(section, location):
                return str(section.node_id)
        return next((str(each.node_id) for each in self._around(end - 1) if self._holds(each, location)), "")

    def _around(self, offset: int) -> Iterator[BookSection]:
        """Yield the sections that contain the character at `offset`, the deepest first."""
        index = bisect_right(self._starts, offset) - 1
        while index >= 0:
            if offset < self._found[index].end:
                yield self._found[index]
            index = self._above[index]

    def _holds(self, section: BookSection, location: Location) -> bool:
        return section.node_id is not None and self._map.find(section.node_id).location.contains(location)


def _parents(found: Sequence[BookSection]) -> Iterator[int]:
    """Yield for each section the index of its parent, or -1 at the top level."""
    open_: list[int] = []
    for index, section in enumerate(found):
        while open_ and found[open_[-1]].depth >= section.depth:
            open_.pop()
        yield open_[-1] if open_ else -1
        open_.append(index)


def _rebuilt(
    resource_map: ResourceMap, below: Mapping[str, Sequence[tuple[int, Node]]], begins: Mapping[str, int]
) -> tuple[Node, ...]:
    """Return the nodes of the map, rebuilt from the leaves up, without its old chunks and with those in `below`."""
    made: dict[str, Node] = {}
    for node in reversed(list(resource_map.walk())):
        if not _is_ours(node):
            made[node.id] = evolve(node, children=_merged(node.children, made, below.get(node.id, ()), begins))
    return _merged(resource_map.nodes, made, below.get("", ()), begins)


def _merged(
    nodes: Sequence[Node], made: Mapping[str, Node], chunks: Sequence[tuple[int, Node]], begins: Mapping[str, int]
) -> tuple[Node, ...]:
    """Return the rebuilt nodes and the chunks, sorted by their starts. The nodes keep their order."""
    row: list[tuple[int, Node]] = []
    for node in nodes:
        if node.id in made:
            row.append((max(begins.get(node.id, 0), row[-1][0] if row else 0), made[node.id]))
    return (
        tuple(node for _, node in sorted([*chunks, *row], key=lambda each: each[0]))
        if chunks
        else tuple(node for _, node in row)
    )


def _is_ours(node: Node) -> bool:
    return node.type == CHUNK and not node.children and _OURS.fullmatch(node.id) is not None
