"""Imports GraphRAG's output as a tree of communities.

Entities are nodes below their deepest community, and text units are nodes below their entities.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import define, field, frozen

from citekit.adapters.importers.foreign_files import DriverForeignFiles, ForeignFiles
from citekit.adapters.importers.graphrag_graph import Community, Entity, Graph, build_graph
from citekit.adapters.importers.graphrag_tables import Row, Tables, identifier, read_tables, text_of
from citekit.adapters.importers.source_text import SourceText, read_source, source_metadata
from citekit.adapters.importers.tree_building import SUMMARY_LIMIT, TITLE_LIMIT, brief, opening, reference, union
from citekit.domain.ids import node_id
from citekit.domain.locations import Location
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.reader import Reader
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source

PASSAGE_LIMIT = 50
"""The maximum number of text units of an entity that become nodes. The location of the entity covers the others, too."""

SCHEME = "graph"
"""The scheme of virtual locations, as in CiteKit 0.2."""


@frozen
class GraphRagAdapter:
    """An importer of a folder of GraphRAG's tables, of one table, or of rows as plain data."""

    reader: Reader
    clock: Clock
    files: ForeignFiles = field(factory=DriverForeignFiles, repr=False)
    identity: MapperIdentity = field(default=MapperIdentity("adapt:graphrag", "1"))

    def adapt(self, data: object, resource_id: str, source: Source | None = None) -> ResourceMap:
        """See `MapAdapter.adapt`. Text units that are not found in `source` get a virtual location."""
        tables = read_tables(
            data, str(data) if isinstance(data, Path) else "The GraphRAG data is not valid", self.files
        )
        graph = build_graph(tables)
        text = None if source is None else read_source(source, self.reader, self.files)
        passages = _passages(tables.text_units, text)
        nodes = _NodeBuilder(graph, passages, text).nodes()
        return ResourceMap(
            resource_id=resource_id,
            modality=Modality.VIRTUAL if source is None else source.format.modality,
            title=_title(tables, source),
            source_path="" if source is None else str(source.path),
            nodes=nodes,
            created_at=self.clock.now(),
            metadata={
                **source_metadata(source, text),
                "communities": len(graph.communities),
                "entities": len(graph.entities),
                "text_units": len(passages),
                **_notes(passages.values(), source),
            },
        )


@frozen
class _TextUnit:
    number: str
    name: str
    text: str
    location: Location | None


def _passages(rows: Sequence[Row], text: SourceText | None) -> dict[str, _TextUnit]:
    """Return GraphRAG's text units by identifier, with their locations in the source. Text units may overlap."""
    found: dict[str, _TextUnit] = {}
    offset = 0
    for count, row in enumerate(rows):
        number, content = identifier(row, "id"), row.get("text")
        content = content if isinstance(content, str) else ""
        there = None if text is None else text.find(content, offset)
        offset = there.offset if there is not None else offset
        location = None if there is None else there.location
        found[number] = _TextUnit(number, identifier(row, "human_readable_id") or str(count), content, location)
    return found


@define
class _NodeBuilder:
    graph: Graph
    passages: dict[str, _TextUnit]
    text: SourceText | None
    taken: set[str] = field(factory=set)
    shown: set[str] = field(factory=set)

    def nodes(self) -> tuple[Node, ...]:
        """Return the top communities, entities in no community, and text units of no entity as nodes."""
        communities = [self._community(each) for each in self.graph.roots]
        unassigned = [self._entity(self.graph.entities[number], "") for number in self.graph.unassigned]
        rest = [self._passage(each, "") for number, each in self.passages.items() if number not in self.shown]
        return (*communities, *unassigned, *rest)

    def _community(self, community: Community) -> Node:
        name = self._named("", f"community {community.number}", "community")
        parts = [self._community(self.graph.communities[number]) for number in community.parts]
        members = [self._entity(self.graph.entities[number], name) for number in community.members]
        return Node(
            id=name,
            title=brief(community.title, TITLE_LIMIT) or name,
            type="community",
            location=self._location_of(self._units_of(community)) or reference(SCHEME, f"community/{community.number}"),
            summary=brief(community.summary, SUMMARY_LIMIT) or None,
            children=(*parts, *members),
        )

    def _entity(self, entity: Entity, parent: str) -> Node:
        name = self._named(parent, entity.title, "entity")
        units = [self.passages[number] for number in entity.text_units if number in self.passages]
        self.shown |= {unit.number for unit in units}
        return Node(
            id=name,
            title=brief(entity.title, TITLE_LIMIT) or name,
            type=brief(entity.type, 40) or "entity",
            location=self._location_of(entity.text_units) or reference(SCHEME, entity.number),
            summary=brief(entity.description, SUMMARY_LIMIT) or None,
            children=tuple(self._passage(unit, name) for unit in units[:PASSAGE_LIMIT]),
        )

    def _passage(self, passage: _TextUnit, parent: str) -> Node:
        return Node(
            id=self._named(parent, f"text {passage.name}", "text"),
            title=opening(passage.text) or f"Text unit {passage.name}",
            type="text_unit",
            location=passage.location or reference(SCHEME, f"text_unit/{passage.number}"),
            summary=brief(passage.text, SUMMARY_LIMIT) or None,
        )

    def _units_of(self, community: Community) -> list[str]:
        """Return the identifiers of the text units of a community, its entities, and its subcommunities, once each."""
        found = list(community.text_units)
        for number in community.members:
            found += self.graph.entities[number].text_units
        for number in community.parts:
            found += self._units_of(self.graph.communities[number])
        return list(dict.fromkeys(found))

    def _location_of(self, numbers: Iterable[str]) -> Location | None:
        """Return the location of the text units that were found in the source (see `union`), or None."""
        known = (self.passages[number].location for number in numbers if number in self.passages)
        locations = [location for location in known if location is not None]
        return union(locations) if self.text is None else union(locations, self.text.blank)

    def _named(self, parent: str, title: str, kind: str) -> str:
        name = node_id(parent, title, self.taken, fallback=kind)
        self.taken.add(name)
        return name


def _title(tables: Tables, source: Source | None) -> str:
    if source is not None:
        return source.path.stem
    titles = [text_of(row, "title") for row in tables.documents if text_of(row, "title")]
    return brief(titles[0], TITLE_LIMIT) if len(titles) == 1 else "GraphRAG index"


def _notes(passages: Iterable[_TextUnit], source: Source | None) -> dict[str, list[str]]:
    if source is None:
        return {"notes": ["Imported without the source, so all locations are virtual."]}
    locations = [each.location for each in passages]
    found = sum(location is not None for location in locations)
    return {"notes": [f"Text units found word for word in the source: {found} of {len(locations)}."]}
