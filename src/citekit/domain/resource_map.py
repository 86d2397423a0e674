"""Defines the map of a resource."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

from attrs import evolve, field, frozen

from citekit.domain.chunks import is_chunk, nodes_without_chunks
from citekit.domain.digest import Digest
from citekit.domain.errors import LocationMalformed, NodeMissing
from citekit.domain.extent import Extent, extent_text
from citekit.domain.locations import Location, Pages
from citekit.domain.map_card import MapCard
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.numbers import WHOLE_LIMIT, real
from citekit.domain.suggestions import nearest_names

IMPORTED_FROM = "adapted_from"
"""The metadata key for the file or folder that a map was imported from."""


@frozen
class ResourceMap:
    """The map of the file at `source_path`: a tree of nodes with locations in the file.

    The keys of `metadata` include `source_hash` (SHA-256), `source_size` (bytes), `mapper` (`name`, `model`,
    `version`), and the extent of the file: `page_count`, `duration` in seconds, `dimensions` [width, height],
    `line_count`, `chapter_lengths`, and `sheets` (each with `name`, `rows`, and `columns`). The constructor raises
    `LocationMalformed` if two nodes have the same ID.
    """

    resource_id: str
    modality: Modality
    title: str
    source_path: str
    nodes: tuple[Node, ...] = field(converter=tuple[Node, ...])
    created_at: datetime
    metadata: Mapping[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        seen: set[str] = set()
        for node in self.walk():
            if node.id in seen:
                raise LocationMalformed(f"two nodes have the ID {node.id!r}")
            seen.add(node.id)

    def walk(self) -> Iterator[Node]:
        """Yield every node of the map, parents before their children."""
        for node in self.nodes:
            yield from node.walk()

    def find(self, node_id: str) -> Node:
        """Return the node with that ID. Raise `NodeMissing`, with similar IDs, if there is none."""
        try:
            return self._by_id[node_id][0]
        except KeyError:
            raise NodeMissing(self.resource_id, node_id, self._meant(node_id)) from None

    def _meant(self, node_id: str) -> list[str]:
        """Return up to three IDs that may be meant: first those with the same last segment, then those with a similar
        spelling.
        """
        last = node_id.rpartition(".")[2].casefold()
        same_end = islice((name for name in self._by_id if name.rpartition(".")[2].casefold() == last), 3)
        return list(dict.fromkeys([*same_end, *nearest_names(node_id, self._by_id, 0.5)]))[:3]

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._by_id

    def parent(self, node_id: str) -> Node | None:
        """Return the parent of a node, or None at the top level. Raise `NodeMissing` if the node does not exist."""
        self.find(node_id)
        return self._by_id[node_id][1]

    def titles(self, node_id: str) -> list[str]:
        """Return the titles from the top of the map down to a node. Raise `NodeMissing` if the node does not exist."""
        found: list[str] = []
        above: Node | None = self.find(node_id)
        while above is not None:
            found.append(above.title)
            above = self.parent(above.id)
        return found[::-1]

    def siblings(self, node_id: str) -> tuple[Node, ...]:
        """Return the other children of the node's parent, or the other top-level nodes.

        Raise `NodeMissing` if the node does not exist.
        """
        parent = self.parent(node_id)
        family = self.nodes if parent is None else parent.children
        return tuple(node for node in family if node.id != node_id)

    def innermost(self, location: Location) -> Node | None:
        """Return the deepest node that contains all of `location`, the first one of several, or None."""
        best: tuple[int, Node] | None = None
        pending = [(1, node) for node in reversed(self.nodes)]
        while pending:
            depth, node = pending.pop()
            if node.location.contains(location):
                best = (depth, node) if best is None or depth > best[0] else best
                pending.extend((depth + 1, child) for child in reversed(node.children))
        return best and best[1]

    def nodes_on_page(self, page: int) -> Iterator[tuple[Node, bool]]:
        """Yield the nodes of whole pages that include a page, and whether they begin on it, parents before their
        children.
        """
        for pages, node in self._nodes_of_pages:
            if pages[0] <= page <= pages[-1] and page in pages:
                yield node, pages[0] == page

    @cached_property
    def _nodes_of_pages(self) -> list[tuple[Sequence[int], Node]]:
        """The page numbers of each node of whole pages, and the node."""
        located = ((node.location, node) for node in self.walk())
        return [(place.numbers, node) for place, node in located if isinstance(place, Pages) and place.region is None]

    @property
    def outline(self) -> ResourceMap:
        """This map without the library's chunks; the same object if it has none."""
        return self._without_chunks or self

    @cached_property
    def _without_chunks(self) -> ResourceMap | None:
        """This map without its chunks, or None if it has none, so that no map refers to itself."""
        if not any(map(is_chunk, self.walk())):
            return None
        return evolve(self, nodes=nodes_without_chunks(self.nodes))

    @cached_property
    def node_count(self) -> int:
        """The number of nodes on all levels."""
        return len(self._by_id)

    @cached_property
    def _by_id(self) -> dict[str, tuple[Node, Node | None]]:
        places: dict[str, tuple[Node, Node | None]] = {}
        pending: list[tuple[Node, Node | None]] = [(node, None) for node in reversed(self.nodes)]
        while pending:
            node, above = pending.pop()
            places[node.id] = (node, above)
            pending.extend((child, node) for child in reversed(node.children))
        return places

    @cached_property
    def source_digest(self) -> Digest | None:
        """The digest of the mapped file, or None without a valid digest."""
        text = self.metadata.get("source_hash")
        try:
            return Digest(text) if isinstance(text, str) else None
        except ValueError:
            return None

    @property
    def mapper(self) -> MapperIdentity | None:
        """The mapper that made this map, or None if it is unknown."""
        return MapperIdentity.from_metadata(self.metadata.get("mapper"))

    @property
    def structure_by(self) -> MapperIdentity | None:
        """The mapper that made the nodes, if `mapper` only added chunks to them or corrected them; otherwise None."""
        return MapperIdentity.from_metadata(self.metadata.get("structure_by"))

    def card(self) -> MapCard:
        """Return the summary of the map for listings."""
        facts = self.metadata
        size, form, beside = facts.get("source_size"), facts.get("format"), facts.get("beside")
        return MapCard(
            resource_id=self.resource_id,
            type=self.modality.value,
            title=self.title,
            nodes=self.outline.node_count,
            source_path=self.source_path,
            source_hash=None if self.source_digest is None else self.source_digest.hex,
            source_size=size if isinstance(size, int) else None,
            format=form if isinstance(form, str) else None,
            mapper=_identity(self.mapper),
            structure_by=_identity(self.structure_by),
            sidecar_files=dict(beside) if isinstance(beside, Mapping) else {},
            size=extent_text(self.extent),
        )

    @cached_property
    def extent(self) -> Extent:
        """The extent of the resource according to the metadata."""
        facts = self.metadata
        return Extent(
            pages=_whole(facts.get("page_count")),
            lines=_whole(facts.get("line_count")),
            seconds=_seconds(facts.get("duration")),
            size=_size(facts.get("dimensions")),
            chapters=_lengths(facts.get("chapter_lengths")),
            sheets=_sheets(facts.get("sheets")),
        )


def _identity(mapper: MapperIdentity | None) -> tuple[str, str | None, str | None] | None:
    return None if mapper is None else (mapper.name, mapper.model, mapper.version)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= WHOLE_LIMIT else None


def _seconds(value: object) -> float | None:
    seconds = real(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    return seconds if seconds > 0 and math.isfinite(seconds) else None


def _size(value: object) -> tuple[int, int] | None:
    match value:
        case [width, height]:
            across, down = _whole(width), _whole(height)
            return (across, down) if across and down else None
    return None


def _sheets(value: object) -> tuple[tuple[str, int, int], ...] | None:
    if not isinstance(value, list | tuple) or not value:
        return None
    found = []
    for each in value:
        match each:
            case {"name": str(name), "rows": int(rows), "columns": int(columns)} if rows >= 0 and columns >= 0:
                found.append((name, rows, columns))
            case _:
                return None
    return tuple(found)


def _lengths(value: object) -> tuple[int, ...] | None:
    if (
        isinstance(value, list | tuple)
        and value
        and all(isinstance(length, int) and 0 <= length <= WHOLE_LIMIT for length in value)
    ):
        return tuple(value)
    return None
