"""Mapped files are listed in pages, all or those that match words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.application.list_resources import ListResources
from citekit.domain.errors import RequestRefused
from citekit.domain.modality import Modality
from citekit.domain.resource_map import ResourceMap
from tests.doubles.stores import InMemoryMapStore
from tests.stories.conftest import World

WHEN = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = st.sampled_from(["bees", "Honey", "report", "Q1", "été"])
NAMES = st.lists(WORDS, min_size=1, max_size=3).map("_".join)
FACTS = st.dictionaries(NAMES, st.tuples(NAMES, NAMES, NAMES), max_size=12)


def store(facts: dict[str, tuple[str, str, str]]) -> InMemoryMapStore:
    maps = InMemoryMapStore()
    for name, (title, folder, file) in facts.items():
        maps.put(ResourceMap(name, Modality.TEXT, title, f"/{folder}/{file}.txt", (), WHEN))
    return maps


def every_page(listing: ListResources, query: str) -> list[str]:
    found, cursor = [], None
    while True:
        page = listing(query, cursor)
        found += [each.resource_id for each in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            assert page.total == len(found)
            return found


@given(FACTS, st.lists(WORDS, max_size=2), st.integers(1, 4))
def test_the_pages_have_every_match_once_and_those_by_name_first(
    facts: dict[str, tuple[str, str, str]], words: list[str], page: int
) -> None:
    listing = ListResources(store(facts), page)

    found = every_page(listing, " ".join(words).upper())

    wanted = [word.upper().casefold() for word in words]

    def rank(name: str) -> int | None:
        title, folder, file = facts[name]
        names, path = f"{name} {title} {file}.txt".casefold(), f"/{folder}/{file}.txt".casefold()
        if all(word in names for word in wanted):
            return 0
        return 1 if all(word in names or word in path for word in wanted) else None

    assert sorted((rank(name), name) for name in facts if rank(name) is not None) == [
        (rank(name), name) for name in found
    ]


@pytest.mark.parametrize("cursor", ["", "x", "2:a", "0"])
def test_a_cursor_of_another_list_is_refused(cursor: str) -> None:
    with pytest.raises(RequestRefused, match="cursor"):
        ListResources(InMemoryMapStore())("", cursor)


def test_a_query_of_too_many_words_is_refused() -> None:
    with pytest.raises(RequestRefused, match="33 words"):
        ListResources(InMemoryMapStore())("a " * 33)


def test_new_changed_and_removed_maps_are_found_and_only_they_are_read(world: World) -> None:
    for name in ("one", "two", "three"):
        world.app.ingest(world.file(f"{name}.txt", f"Heading of {name}\n"))
    assert ["one_txt"] == every_page(world.app.list_resources, "one")

    world.app.ingest(world.file("folder/four.txt", "Heading of four\n"))
    world.app.remove("two_txt")

    assert ["four_txt"] == every_page(world.app.list_resources, "FOUR folder")
    assert [] == every_page(world.app.list_resources, "two")
    assert ["four_txt", "one_txt", "three_txt"] == every_page(world.app.list_resources, "")
