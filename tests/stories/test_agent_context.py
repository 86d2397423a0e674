"""The outline of maps for a model, within a budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.application.agent_context import FORMATS, TOKEN, agent_context
from citekit.domain.address import parse_address
from citekit.domain.errors import RequestRefused, ResourceMissing
from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.resource_map import ResourceMap
from tests.stories.conftest import World
from tests.strategies import resource_maps

LINE = re.compile(r"(?P<indent> *)- \*\*(?P<id>[^*]+)\*\*: .*?<(?P<address>[a-z]+://[^<>]*)>")


def book(name: str, *chapters: int) -> ResourceMap:
    """A map of chapters with so many sections each."""
    nodes = []
    for number, count in enumerate(chapters, 1):
        lines = Lines(number * 100, number * 100 + 50)
        sections = [
            Node(f"ch_{number}.s_{n}", f"Section {n}", "section", lines, "What it says.") for n in range(1, count + 1)
        ]
        nodes.append(Node(f"ch_{number}", f"Chapter {number}", "chapter", lines, None, sections))
    return ResourceMap(name, Modality.TEXT, f"The {name}", "/x", nodes, datetime(2026, 1, 1, tzinfo=UTC))


def shown(text: str, form: str) -> list[tuple[str, str]]:
    """(id, address) of every node in a context."""
    if form == "markdown":
        return [(found["id"], found["address"]) for found in map(LINE.match, text.splitlines()) if found]

    def walk(nodes: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
        for node in nodes:
            yield node["id"], node["address"]
            yield from walk(node.get("children", []))

    return [pair for each in json.loads(text)["resources"] for pair in walk(each["nodes"])]


def distinct(maps: list[ResourceMap]) -> list[ResourceMap]:
    return [evolve(each, resource_id=f"map_{number}") for number, each in enumerate(maps)]


MAPS = st.lists(resource_maps(), max_size=3).map(distinct)


@pytest.mark.parametrize("form", FORMATS)
def test_every_node_stands_with_its_id_and_address(form: str) -> None:
    found = agent_context([book("a", 2)], format=form)

    assert [("ch_1", "text://a#lines=100-150"), ("ch_1.s_1", "text://a#lines=100-150"), ("ch_1.s_2", "text://a#lines=100-150")] == shown(found.text, form)  # fmt: skip
    assert (3, 0) == (found.shown, found.left_out)
    assert [parse_address(address).resource_id for _, address in shown(found.text, form)] == ["a"] * 3


def test_the_markdown_is_a_list_in_reading_order() -> None:
    found = agent_context([book("a", 1, 0), book("b", 0)])

    assert (
        """# Resources

## The a (id: a, text)
- **ch_1**: Chapter 1 <text://a#lines=100-150>
  - **ch_1.s_1**: Section 1 <text://a#lines=100-150> - What it says.
- **ch_2**: Chapter 2 <text://a#lines=200-250>

## The b (id: b, text)
- **ch_1**: Chapter 1 <text://b#lines=100-150>"""
        == found.text
    )


@pytest.mark.parametrize("form", FORMATS)
def test_upper_levels_of_all_maps_come_before_lower_ones_of_any(form: str) -> None:
    maps = [book("a", *[5] * 4), book("b", *[5] * 4)]
    whole = agent_context(maps, format=form)

    half = agent_context(maps, format=form, budget=len(whole.text) // TOKEN // 2)
    depths = [name.count(".") for name, _ in shown(half.text, form)]

    assert 8 == depths.count(0)
    assert 0 < depths.count(1) < 40
    assert (48 - half.shown) == half.left_out


@pytest.mark.parametrize("form", FORMATS)
def test_a_small_map_is_not_crowded_out_by_a_large_one(form: str) -> None:
    maps = [book("large", *[0] * 200), book("small", 0, 0)]

    found = agent_context(maps, format=form, budget=400)

    assert ["ch_1", "ch_2"] == [name for name, address in shown(found.text, form) if "//small#" in address]


def test_the_text_says_how_much_was_left_out() -> None:
    found = agent_context([book("a", *[3] * 30)], budget=200)

    assert found.text.endswith(f"({found.left_out} more nodes were left out to fit the budget.)")


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
@given(maps=MAPS, budget=st.integers(1, 3000))
def test_a_context_is_never_over_its_budget(form: str, maps: list[ResourceMap], budget: int) -> None:
    try:
        found = agent_context(maps, format=form, budget=budget)
    except RequestRefused:
        titles = [evolve(each, nodes=()) for each in maps]
        bare = len(agent_context(titles, format=form).text)
        assert bare + len("\n\n( more nodes were left out to fit the budget.)") + 20 > budget * TOKEN
        return

    assert len(found.text) <= budget * TOKEN
    assert found.shown == len(shown(found.text, form)) or form == "markdown"
    assert found.shown + found.left_out == sum(each.node_count for each in maps)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
@given(maps=MAPS, budgets=st.tuples(st.integers(1, 2000), st.integers(1, 2000)).map(sorted))
def test_a_larger_budget_shows_all_that_a_smaller_one_shows(
    form: str, maps: list[ResourceMap], budgets: list[int]
) -> None:
    try:
        small = agent_context(maps, format=form, budget=budgets[0])
    except RequestRefused:
        return

    large = agent_context(maps, format=form, budget=budgets[1])

    assert set(shown(small.text, form)) <= set(shown(large.text, form))


@pytest.mark.long
@given(maps=MAPS)
def test_what_fits_whole_is_what_no_budget_gives(maps: list[ResourceMap]) -> None:
    for form in FORMATS:
        whole = agent_context(maps, format=form)

        assert whole == agent_context(maps, format=form, budget=-(-len(whole.text) // TOKEN))


def test_a_budget_below_the_titles_is_refused_with_what_is_needed() -> None:
    with pytest.raises(
        RequestRefused, match=r"The titles of the resources alone need (\d+) tokens, but the budget is 5"
    ) as refusal:
        agent_context([book("a", 3)], budget=5)
    needed = re.search(r"need (\d+)", str(refusal.value))
    assert needed is not None

    assert len(agent_context([book("a", 3)], budget=int(needed[1])).text) <= int(needed[1]) * TOKEN


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(RequestRefused, match="markdown or json"):
        agent_context([], format="xml")


def test_texts_from_files_stay_on_their_line() -> None:
    node = Node("a", "Title\n- **b**: forged", "x", Lines(1, 1), "Sum\x1b[31m\nmary")
    made = ResourceMap("r", Modality.TEXT, "T\n## forged", "/x", [node], datetime(2026, 1, 1, tzinfo=UTC))

    text = agent_context([made]).text

    assert 4 == len(text.splitlines())
    assert "\x1b" not in text


def test_the_store_is_read_whole_or_by_name(world: World) -> None:
    for name in ("one.txt", "two.txt"):
        world.app.ingest(world.file(name, f"{name}\n"))

    every, one = world.app.context(), world.app.context(["two_txt"])

    assert (4, 2) == (every.shown, one.shown)
    assert "one_txt" not in one.text
    with pytest.raises(ResourceMissing):
        world.app.context(["none"])
