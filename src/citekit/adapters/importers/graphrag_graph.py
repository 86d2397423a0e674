"""Builds the tree of GraphRAG's communities and assigns each entity to a community."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field

from citekit.adapters.importers.graphrag_tables import Row, Tables, as_identifier, identifier, identifiers, text_of
from citekit.adapters.importers.tree_building import parents_of

_NUMBER = ("community", "raw_community", "human_readable_id", "id")
"""The columns that identify a community, the most reliable first."""


@define
class Community:
    """A GraphRAG community, with the numbers of its parent, or "", and of its subcommunities (`parts`).

    `members` are the identifiers of its own entities.
    """

    number: str
    title: str
    summary: str = ""
    parent: str = ""
    depth: int = 0
    parts: list[str] = field(factory=list)
    members: list[str] = field(factory=list)
    text_units: list[str] = field(factory=list)


@define
class Entity:
    """A GraphRAG entity, with its identifier in the tables and those of its text units."""

    number: str
    title: str
    type: str
    description: str
    text_units: list[str]


@define
class Graph:
    """A GraphRAG graph: communities by number, entities by identifier, and the identifiers of entities in no community."""

    communities: dict[str, Community]
    entities: dict[str, Entity]
    unassigned: list[str] = field(factory=list)

    @property
    def roots(self) -> list[Community]:
        """The communities that have no parent, in the order of their table."""
        return [each for each in self.communities.values() if not each.parent]


def build_graph(tables: Tables) -> Graph:
    """Return the graph in the tables, with each entity in the deepest of its communities."""
    graph = Graph(_communities(tables), _entities(tables.entities))
    _link_communities(graph.communities, tables)
    _assign_entities(graph, tables)
    return graph


def _entities(rows: Iterable[Row]) -> dict[str, Entity]:
    found: dict[str, Entity] = {}
    for row in rows:
        title = text_of(row, "title", "name")
        number = identifier(row, "id") or title
        if number and number not in found:
            kind = text_of(row, "type") or "entity"
            text_units = identifiers(row, "text_unit_ids")
            found[number] = Entity(number, title or number, kind.lower(), text_of(row, "description"), text_units)
    return found


def _communities(tables: Tables) -> dict[str, Community]:
    found: dict[str, Community] = {}
    for row in tables.communities:
        number = identifier(row, *_NUMBER)
        if number and number not in found:
            title = text_of(row, "title") or f"Community {number}"
            found[number] = Community(number, title, text_units=identifiers(row, "text_unit_ids"))
    for row in tables.community_reports:
        number = identifier(row, "community", "human_readable_id", "id")
        if number:
            known = found.setdefault(number, Community(number, f"Community {number}"))
            known.title = text_of(row, "title") or known.title
            known.summary = text_of(row, "summary") or known.summary
    return found


def _link_communities(communities: dict[str, Community], tables: Tables) -> None:
    pairs: list[tuple[str, str]] = []
    for row in (*tables.communities, *tables.community_reports):
        number = identifier(row, *_NUMBER)
        pairs += [(number, identifier(row, "parent")), *((child, number) for child in identifiers(row, "children"))]
    parents = parents_of(pairs, communities)
    for number, parent in parents.items():
        communities[number].parent = parent
    for each in communities.values():
        if each.parent:
            communities[each.parent].parts.append(each.number)
        part = each.number
        while part in parents:
            part = parents[part]
            each.depth += 1


def _assign_entities(graph: Graph, tables: Tables) -> None:
    assigned: dict[str, Community] = {}
    for number, community in _memberships(graph, tables):
        if number in graph.entities and (number not in assigned or assigned[number].depth < community.depth):
            assigned[number] = community
    for number in graph.entities:
        if number in assigned:
            assigned[number].members.append(number)
        else:
            graph.unassigned.append(number)


def _memberships(graph: Graph, tables: Tables) -> Iterable[tuple[str, Community]]:
    for row in tables.communities:
        community = graph.communities.get(identifier(row, *_NUMBER))
        if community is not None:
            yield from ((member, community) for member in identifiers(row, "entity_ids"))
    by_title = {entity.title: number for number, entity in graph.entities.items()}
    for row in tables.nodes:
        community = graph.communities.get(as_identifier(row.get("community")))
        if community is not None:
            yield by_title.get(text_of(row, "title", "name"), ""), community
