"""Attaches the chunks of a book to its map as nodes without children."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from attrs import evolve, field, frozen

from citekit.domain.chunks import CHUNK, is_chunk, nodes_without_chunks
from citekit.domain.ids import node_id
from citekit.domain.library.located_text import LocatedText
from citekit.domain.library.sections import BookSection, sections
from citekit.domain.locations import Location
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap

Mark = tuple[int, int, Location, str, str | None]
"""A chunk to attach: the characters (start, end) of the extracted text, the location, the title, and the summary."""


@frozen
class AttachedChunks:
    """A map with chunks. `ids` are the node IDs of the chunks, in the order in which they were given."""

    resource_map: ResourceMap
    ids: tuple[str, ...] = field(converter=tuple[str, ...])


def with_chunks(resource_map: ResourceMap, extracted_text: LocatedText, placed: Sequence[Mark]) -> AttachedChunks:
    """Return a copy of the map with a node of type `chunk` for each chunk in `placed`, without earlier chunks.

    The parent of a chunk is the deepest node whose text contains the whole chunk and whose location contains that of
    the chunk. If there is no such node, the text of the parent only has to contain the end of the chunk. If no node
    does, the chunk is at the top level.

    The ID of a chunk has the form `PARENT.chunk_1_3fa9`: the parent's ID, a number, and four hexadecimal digits that
    depend on the character range. They keep the ID of a replaced chunk from naming other text.
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
    """Return a copy of the map without its chunks."""
    return evolve(resource_map, nodes=nodes_without_chunks(resource_map.nodes))


def _mark(start: int, end: int) -> str:
    return f"{crc32(f'{start}-{end}'.encode()) & 0xFFFF:04x}"


class _Homes:
    """Finds the parent node of a chunk."""

    def __init__(self, resource_map: ResourceMap, found: Sequence[BookSection]) -> None:
        self._map, self._found = resource_map, found
        self._starts = [section.start for section in found]
        self._above = list(_parents(found))

    def of(self, start: int, end: int, location: Location) -> str:
        """Return the ID of the parent of a chunk, or "" for the top level."""
        for section in self._around(start):
            if end <= section.end and self._holds(section, location):
                return str(section.node_id)
        return next((str(each.node_id) for each in self._around(end - 1) if self._holds(each, location)), "")

    def _around(self, offset: int) -> Iterator[BookSection]:
        """Yield the sections whose text contains the character at `offset`, deepest first."""
        index = bisect_right(self._starts, offset) - 1
        while index >= 0:
            if offset < self._found[index].end:
                yield self._found[index]
            index = self._above[index]

    def _holds(self, section: BookSection, location: Location) -> bool:
        return section.node_id is not None and self._map.find(section.node_id).location.contains(location)


def _parents(found: Sequence[BookSection]) -> Iterator[int]:
    """Yield the index of the parent of each section in `found`, or -1 for a section at the top level."""
    open_: list[int] = []
    for index, section in enumerate(found):
        while open_ and found[open_[-1]].depth >= section.depth:
            open_.pop()
        yield open_[-1] if open_ else -1
        open_.append(index)


def _rebuilt(
    resource_map: ResourceMap, below: Mapping[str, Sequence[tuple[int, Node]]], begins: Mapping[str, int]
) -> tuple[Node, ...]:
    """Return the top-level nodes of the map with the chunks in `below`, by parent ID, sorted in by their starts."""
    made: dict[str, Node] = {}
    for node in reversed(list(resource_map.walk())):
        if not is_chunk(node):
            made[node.id] = evolve(node, children=_merged(node.children, made, below.get(node.id, ()), begins))
    return _merged(resource_map.nodes, made, below.get("", ()), begins)


def _merged(
    nodes: Sequence[Node], made: Mapping[str, Node], chunks: Sequence[tuple[int, Node]], begins: Mapping[str, int]
) -> tuple[Node, ...]:
    """Return the siblings `nodes`, rebuilt as in `made`, and `chunks` in one sequence, sorted by start."""
    row: list[tuple[int, Node]] = []
    for node in nodes:
        if node.id in made:
            row.append((max(begins.get(node.id, 0), row[-1][0] if row else 0), made[node.id]))
    return (
        tuple(node for _, node in sorted([*chunks, *row], key=lambda each: each[0]))
        if chunks
        else tuple(node for _, node in row)
    )
