"""Maps are read in answers of bounded size, and searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.application.structure import GetStructure
from citekit.domain.errors import NodeMissing, RequestRefused
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from tests.doubles.stores import InMemoryMapStore
from tests.stories.conftest import World
from tests.strategies import resource_maps


def reading(resource_map: ResourceMap) -> GetStructure:
    maps = InMemoryMapStore()
    maps.put(resource_map)
    return GetStructure(maps)


@pytest.mark.long
@given(resource_maps(), st.integers(1, 3000))
def test_the_windows_together_show_every_node_once_and_in_order(resource_map: ResourceMap, limit: int) -> None:
    structure = reading(resource_map)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        answer = structure(resource_map.resource_id, cursor=cursor, limit=limit)
        shown = [node.id for root in answer.nodes for node in root.walk()]
        seen.extend(node for node in shown if node not in seen)
        cursor = answer.next_cursor
        if cursor is None:
            break

    assert [node.id for node in resource_map.walk()] == seen


@pytest.mark.long
@given(resource_maps())
def test_a_map_of_ordinary_size_comes_whole(resource_map: ResourceMap) -> None:
    answer = reading(resource_map)(resource_map.resource_id)

    assert (resource_map.nodes, True, None) == (answer.nodes, answer.whole, answer.next_cursor)


@pytest.mark.long
@given(resource_maps(), st.integers(1, 4))
def test_depth_counts_levels(resource_map: ResourceMap, depth: int) -> None:
    def levels(nodes: tuple[Node, ...]) -> int:
        return max((1 + levels(node.children) for node in nodes), default=0)

    answer = reading(resource_map)(resource_map.resource_id, depth=depth)

    assert min(depth, levels(resource_map.nodes)) == levels(tuple(answer.nodes))


@given(resource_maps(), st.data())
def test_depth_below_a_node_counts_from_its_children(resource_map: ResourceMap, data: st.DataObject) -> None:
    named = data.draw(st.sampled_from(list(resource_map.walk())))

    (shown,) = reading(resource_map)(resource_map.resource_id, node_id=named.id, depth=1).nodes

    assert [child.id for child in named.children] == [child.id for child in shown.children]
    assert {()} >= {child.children for child in shown.children}


@given(resource_maps(), st.data())
def test_a_part_of_a_title_finds_its_nodes_below_their_ancestors(
    resource_map: ResourceMap, data: st.DataObject
) -> None:
    titles = sorted({node.title for node in resource_map.walk()})
    words = data.draw(st.sampled_from(titles))
    if not words.strip():
        return

    answer = reading(resource_map)(resource_map.resource_id, title_contains=f" {words.upper()} ")
    shown = [node for root in answer.nodes for node in root.walk()]

    wanted = " ".join(words.upper().casefold().split())
    matching = {node.id for node in resource_map.walk() if wanted in " ".join(node.title.casefold().split())}
    assert matching <= {node.id for node in shown}
    assert all(node.children or node.id in matching for node in shown)
    assert len(shown) == answer.total


@given(resource_maps(), st.integers(0, 3000))
def test_a_budget_keeps_the_higher_levels(resource_map: ResourceMap, budget: int) -> None:
    structure = reading(resource_map)
    answer = structure(resource_map.resource_id, budget=budget, cost=lambda _, __: 100)

    def depths(nodes: Sequence[Node], depth: int = 0) -> Iterator[int]:
        for node in nodes:
            yield depth
            yield from depths(node.children, depth + 1)

    every, shown = sorted(depths(resource_map.nodes)), sorted(depths(answer.nodes))
    assert every[: budget // 100] == shown
    assert (len(every), len(every) - len(shown)) == (answer.total, answer.cut)


def test_an_empty_filter_and_a_cursor_with_a_budget_are_refused(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(RequestRefused, match="title_contains is empty"):
        world.app.structure("a_txt", title_contains=" ")
    with pytest.raises(RequestRefused, match="Omit one"):
        world.app.structure("a_txt", cursor="1", budget=100)


def test_the_structure_below_a_node(world: World) -> None:
    world.app.ingest(world.file("a.txt"))

    answer = world.app.structure("a_txt", node_id="all.line_2")

    assert ["all.line_2"] == [node.id for node in answer.nodes]
    with pytest.raises(NodeMissing):
        world.app.structure("a_txt", node_id="nothing")


@pytest.mark.parametrize("cursor", ["-1", "x", "999999999999", "4", "１"])
def test_a_cursor_that_was_not_given_out_is_refused(world: World, cursor: str) -> None:
    world.app.ingest(world.file("a.txt"))

    with pytest.raises(RequestRefused, match="cursor"):
        world.app.structure("a_txt", cursor=cursor)


def test_search_ranks_titles_above_summaries_and_wants_every_word(world: World) -> None:
    world.app.ingest(world.file("a.txt", "Sorting algorithms\nSearching trees\nAbout sorting\n"))
    world.app.ingest(world.file("b.txt", "Cooking\nÜber Bäume\n"))

    sorting = [hit.node.title for hit in world.app.search("SORT")]
    both = [hit.node.title for hit in world.app.search("sorting algorithms")]
    accents = [str(hit.address) for hit in world.app.search("baume")]

    assert {"Sorting algorithms", "About sorting"} == set(sorting)
    assert ["Sorting algorithms"] == both
    assert ["text://b_txt#lines=2"] == accents
    assert [] == world.app.search("nowhere to be found")
    assert [] == world.app.search("  ")
