from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given

from citekit.domain.errors import LocationMalformed, NodeMissing
from citekit.domain.extent import Extent
from citekit.domain.locations import Lines, Location, Pages
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from tests.strategies import lines, resource_maps

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_map(*nodes: Node, **metadata: Any) -> ResourceMap:
    return ResourceMap("book", Modality.DOCUMENT, "Book", "/book.pdf", nodes, NOW, metadata)


def a_node(name: str, first: int, last: int, *children: Node) -> Node:
    return Node(name, name, "chapter", Pages.span(first, last), children=children)


@given(resource_maps())
def test_every_node_is_found_under_its_id_with_its_family(resource_map: ResourceMap) -> None:
    every = list(resource_map.walk())

    assert len(every) == resource_map.node_count
    for node in every:
        assert node is resource_map.find(node.id)
        assert node.id in resource_map
        assert all(node is resource_map.parent(child.id) for child in node.children)
        parent = resource_map.parent(node.id)
        family = resource_map.nodes if parent is None else parent.children
        assert sorted([node.id, *(other.id for other in resource_map.siblings(node.id))]) == sorted(
            n.id for n in family
        )


@given(resource_maps())
def test_a_walk_sees_parents_before_children_and_goes_in_reading_order(resource_map: ResourceMap) -> None:
    starts = [node.location.first for node in resource_map.walk() if isinstance(node.location, Lines)]

    assert sorted(starts) == starts


@pytest.mark.long
@given(resource_maps(), lines())
def test_the_innermost_node_is_the_deepest_that_holds_the_place(resource_map: ResourceMap, place: Location) -> None:
    depths = {node.id: depth(resource_map, node.id) for node in resource_map.walk() if node.location.contains(place)}

    found = resource_map.innermost(place)

    assert (found is None) == (not depths)
    assert found is None or depths[found.id] == max(depths.values())


def depth(resource_map: ResourceMap, node_id: str) -> int:
    above = resource_map.parent(node_id)
    return 0 if above is None else 1 + depth(resource_map, above.id)


def test_a_page_that_two_chapters_share_belongs_to_the_deeper_node() -> None:
    shared = a_map(a_node("one", 1, 5), a_node("two", 5, 9, a_node("two.intro", 5, 5)))

    found = shared.innermost(Pages((5,)))

    assert found is not None
    assert found.id == "two.intro"


def test_an_index_is_made_once() -> None:
    resource_map = a_map(a_node("one", 1, 5))

    assert resource_map._by_id is resource_map._by_id


def test_an_unknown_node_is_an_error_that_names_similar_ones() -> None:
    with pytest.raises(NodeMissing, match=r"Node 'chapter1' not found\. Did you mean 'chapter_1'") as caught:
        a_map(a_node("chapter_1", 1, 2)).find("chapter1")

    assert caught.value.nearest == ("chapter_1",)


def test_parents_and_siblings_of_an_unknown_node_are_errors_too() -> None:
    for ask in (a_map().parent, a_map().siblings):
        with pytest.raises(NodeMissing):
            ask("x")


def test_two_nodes_of_one_id_are_refused_on_any_level() -> None:
    with pytest.raises(LocationMalformed, match="Two nodes have the ID 'one'"):
        a_map(a_node("one", 1, 5, a_node("two", 1, 2, a_node("one", 1, 1))))


def test_a_very_deep_tree_is_walked_without_recursion() -> None:
    node = a_node("n0", 1, 1)
    for level in range(1, 5000):
        node = a_node(f"n{level}", 1, 1, node)

    resource_map = a_map(node)

    assert resource_map.node_count == 5000
    assert resource_map.find("n0").id == "n0"


def test_facts_become_bounds() -> None:
    facts = {"page_count": 12, "duration": 3, "dimensions": [640, 480], "line_count": 9, "chapter_lengths": [3, 4]}

    assert Extent(pages=12, lines=9, seconds=3.0, size=(640, 480), chapters=(3, 4)) == a_map(**facts).extent


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {
            "page_count": "12",
            "duration": True,
            "dimensions": 3,
            "line_count": -1,
            "chapter_lengths": ["x"],
            "mapper": 3,
        },
        {
            "page_count": 10**400,
            "duration": 10**400,
            "dimensions": [10**400, 2],
            "line_count": 10**12,
            "chapter_lengths": [10**400],
        },
        {"duration": float("inf"), "dimensions": [0, 480], "chapter_lengths": [-1]},
        {"duration": float("nan"), "dimensions": [True, -1]},
    ],
)
def test_facts_of_another_kind_are_unknown(facts: dict[str, Any]) -> None:
    resource_map = a_map(**facts, source_hash="not a digest")

    assert Extent() == resource_map.extent
    assert resource_map.source_digest is None
    assert resource_map.mapper is None


def test_a_map_knows_who_made_it_of_what() -> None:
    who = MapperIdentity("gemini", "2", "flash")

    made = a_map(mapper=who.to_metadata(), source_hash="ab" * 32)

    assert who == made.mapper
    assert str(made.source_digest) == "ab" * 32
    assert made == evolve(made)
