"""Which community lies in which, and which entity in which community."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import define, field

from citekit.adapters.adapting.graphrag_tables import Row, Tables, as_key, key, keys, word

DEPTH_LIMIT = 40
"""Levels of communities; deeper ones stand on the last level."""


@define
class Community:
    """`number` is the one that GraphRAG's reports cite; `parts` are the communities in it, `members` its own entities."""

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
    """`number` is its identifier in the tables."""

    number: str
    title: str
    type: str
    description: str
    text_units: list[str]


@define
class Graph:
    """Communities by number, entities by identifier, both in the order of their tables; `tops` are in no community."""

    communities: dict[str, Community]
    entities: dict[str, Entity]
    loose: list[str] = field(factory=list)

    @property
    def tops(self) -> list[Community]:
        """The communities that lie in no other."""
        return [each for each in self.communities.values() if not each.parent]


def graph_of(tables: Tables) -> Graph:
    """The graph that the tables tell; each entity in the deepest community that has it."""
    graph = Graph(_communities(tables), _entities(tables.entities))
    _nest(graph.communities, tables)
    _place(graph, tables)
    return graph


def _entities(rows: Iterable[Row]) -> dict[str, Entity]:
    found: dict[str, Entity] = {}
    for row in rows:
        title = word(row, "title", "name")
        number = key(row, "id") or title
        if number and number not in found:
            kind = word(row, "type") or "entity"
            text_units = keys(row, "text_unit_ids")
            found[number] = Entity(number, title or number, kind.lower(), word(row, "description"), text_units)
    return found


def _communities(tables: Tables) -> dict[str, Community]:
    found: dict[str, Community] = {}
    for row in tables.communities:
        number = key(row, "community", "raw_community", "human_readable_id", "id")
        if number and number not in found:
            title = word(row, "title") or f"Community {number}"
            found[number] = Community(number, title, text_units=keys(row, "text_unit_ids"))
    for row in tables.community_reports:
        number = key(row, "community", "human_readable_id", "id")
        if number:
            known = found.setdefault(number, Community(number, f"Community {number}"))
            known.title = word(row, "title") or known.title
            known.summary = word(row, "summary") or known.summary
    return found


def _nest(communities: dict[str, Community], tables: Tables) -> None:
    """Give every community its parent; a parent that would close a circle, or is not there, is none."""
    for row in (*tables.communities, *tables.community_reports):
        number = key(row, "community", "raw_community", "human_readable_id", "id")
        pairs = [(number, key(row, "parent")), *((child, number) for child in keys(row, "children"))]
        for child, parent in pairs:
            if child in communities and parent in communities and not communities[child].parent:
                above = _above(communities, parent)
                if child not in above:
                    communities[child].parent = above[DEPTH_LIMIT - 1] if len(above) >= DEPTH_LIMIT else parent
    for each in communities.values():
        each.depth = len(_above(communities, each.parent)) if each.parent else 0
        if each.parent:
            communities[each.parent].parts.append(each.number)


def _above(communities: Mapping[str, Community], number: str) -> list[str]:
    """That community and all it lies in, the outermost first."""
    found = [number]
    while parent := communities[found[-1]].parent:
        found.append(parent)
    return found[::-1]


def _place(graph: Graph, tables: Tables) -> None:
    homes: dict[str, Community] = {}
    for number, community in _memberships(graph, tables):
        if number in graph.entities and (number not in homes or homes[number].depth < community.depth):
            homes[number] = community
    for number in graph.entities:
        if number in homes:
            homes[number].members.append(number)
        else:
            graph.loose.append(number)


def _memberships(graph: Graph, tables: Tables) -> Iterable[tuple[str, Community]]:
    for row in tables.communities:
        community = graph.communities.get(key(row, "community", "raw_community", "human_readable_id", "id"))
        if community is not None:
            yield from ((member, community) for member in keys(row, "entity_ids"))
    by_title = {entity.title: number for number, entity in graph.entities.items()}
    for row in tables.nodes:
        community = graph.communities.get(as_key(row.get("community")))
        if community is not None:
            yield by_title.get(word(row, "title", "name"), ""), community
