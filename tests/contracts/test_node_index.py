"""What every index of nodes promises."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.search.node_search import query_plan
from citekit.adapters.search.node_search.postgres_index import PostgresNodeIndex
from citekit.adapters.search.node_search.scanning import ScanningNodeIndex
from citekit.adapters.search.node_search.sqlite_index import SqliteNodeIndex
from citekit.adapters.storage.json_maps import JsonMapStore
from citekit.domain.locations import Lines
from citekit.domain.modality import Modality
from citekit.domain.node import Node
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.node_index import FoundNode, NodeIndex
from citekit.domain.resource_map import ResourceMap
from citekit.domain.words import words_of
from tests.doubles.stores import InMemoryMapStore

Make = Callable[[MapStore], NodeIndex]

WORDS = [
    "sort",
    "sorting",
    "sorts",
    "so",
    "tree",
    "trees",
    "Ünïcode",
    "Ελλάς",
    "ᴬbc",
    "12",
    "日本語",
    "x" * 70,
    "x" * 64,
]
QUESTIONS = [*WORDS, "s", "t", "tre", "sor", "uni", "ελ", "absent", "1", "日", "x"]


@pytest.fixture(params=["scanning", "sqlite", "postgresql"], scope="session")
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Make:
    def scanning(maps: MapStore) -> NodeIndex:
        return ScanningNodeIndex(maps)

    def sqlite(maps: MapStore) -> NodeIndex:
        return SqliteNodeIndex(maps, tmp_path_factory.mktemp("home") / "words")

    def postgresql(maps: MapStore) -> NodeIndex:
        return PostgresNodeIndex(maps, request.getfixturevalue("database"), partial(str, secrets.token_hex(16)))

    return {"scanning": scanning, "sqlite": sqlite, "postgresql": postgresql}[request.param]


def a_map(resource_id: str, *texts: tuple[str, str | None]) -> ResourceMap:
    nodes = tuple(
        Node(f"n{at}", title, "section", Lines(at, at), summary) for at, (title, summary) in enumerate(texts, 1)
    )
    return ResourceMap(resource_id, Modality.TEXT, resource_id, "/a.txt", nodes, datetime(2026, 1, 1, tzinfo=UTC))


def titled(resource_id: str, *titles: str) -> ResourceMap:
    return a_map(resource_id, *((title, None) for title in titles))


def stored(*resource_maps: ResourceMap) -> InMemoryMapStore:
    maps = InMemoryMapStore()
    for each in resource_maps:
        maps.put(each)
    return maps


def asked(index: NodeIndex, question: str, *, limit: int = 20, resources: Sequence[str] | None = None) -> list[str]:
    words = list(dict.fromkeys(words_of(question)))
    return [f"{hit.resource_id} {hit.head.title}" for hit in index.best(words, limit=limit, resources=resources)]


class TestNodeIndex:
    def test_without_maps_or_words_nothing_is_found(self, make: Make) -> None:
        assert [] == asked(make(stored()), "sorting")
        assert [] == asked(make(stored(titled("a", "Sorting"))), "")

    def test_a_word_is_found_by_its_beginning_whatever_its_case_and_accents(self, make: Make) -> None:
        index = make(stored(titled("a", "Über Bäume", "Resort")))

        assert ["a Über Bäume"] == asked(index, "BAUM")
        assert [] == asked(index, "sort")

    def test_every_word_is_wanted_but_those_that_no_node_has(self, make: Make) -> None:
        index = make(stored(titled("a", "red green", "red blue", "green", "black")))

        assert ["a red green"] == asked(index, "green red")
        assert ["a black"] == asked(index, "black white")
        assert [] == asked(index, "white")

    def test_where_no_node_has_all_words_the_most_common_is_left_out_and_then_the_next(self, make: Make) -> None:
        index = make(stored(titled("a", "the red", "the red", "the green", "the blue", "green sea", "blue")))

        assert ["a green sea"] == asked(index, "sea the green")
        assert ["a green sea"] == asked(index, "the sea red")
        assert ["a the red", "a the red"] == asked(index, "red the blue")

    def test_of_equally_common_words_the_later_one_is_left_out(self, make: Make) -> None:
        index = make(stored(titled("a", "red", "green")))

        assert (["a red"], ["a green"]) == (asked(index, "red green"), asked(index, "green red"))

    def test_a_beginning_is_as_common_as_all_the_words_that_begin_with_it(self, make: Make) -> None:
        index = make(stored(titled("a", "sorts sorting sorted", "green", "green")))

        assert ["a green", "a green"] == asked(index, "sort green")

    def test_a_word_that_was_left_out_still_counts_for_the_order(self, make: Make) -> None:
        index = make(stored(titled("a", "knot sand", "knot seas", *["rope"] * 3, *["sea"] * 4)))

        assert ["a knot seas", "a knot sand"] == asked(index, "knot rope sea")

    def test_in_some_maps_a_word_is_as_common_as_in_these(self, make: Make) -> None:
        index = make(stored(titled("a", "red", "red", "green"), titled("b", "green", "green")))

        assert ["a green"] == asked(index, "red green", resources=["a"])
        assert ["a red", "a red"] == asked(index, "red green")

    def test_a_title_counts_more_than_a_summary_and_a_short_one_more_than_a_long_one(self, make: Make) -> None:
        index = make(
            stored(a_map("a", ("One", "On sorting"), ("Sorting and much more of it", None), ("Sorting", None)))
        )

        assert ["a Sorting", "a Sorting and much more of it", "a One"] == asked(index, "sorting")

    def test_a_rare_word_weighs_more(self, make: Make) -> None:
        common = [f"sorting {n}" for n in range(10)]
        index = make(stored(titled("a", *common, "knots rope")))

        assert "a knots rope" == asked(index, "knots sorting")[0]

    def test_equal_ones_come_in_the_order_of_the_maps_and_of_reading(self, make: Make) -> None:
        index = make(
            stored(titled("b", "Trees", "trees"), titled("a", "TREES"), titled("a.b", "tREES"), titled("é", "treeS"))
        )

        assert ["a TREES", "a.b tREES", "b Trees", "b trees", "é treeS"] == asked(index, "trees")

    def test_only_some_maps_are_looked_into_in_their_order(self, make: Make) -> None:
        index = make(stored(titled("a", "Trees"), titled("b", "Trees"), titled("c", "Trees")))

        assert ["c Trees", "a Trees"] == asked(index, "trees", resources=["c", "a", "c", "nothing", "not/an id"])
        assert [] == asked(index, "trees", resources=[])

    def test_a_hit_is_the_node_without_its_children(self, make: Make) -> None:
        child = Node("one.two", "Below", "part", Lines(2, 3), "Sorting")
        above = Node("one", "Sorting", "chapter", Lines(1, 4), "All of it.", (child,))
        index = make(stored(evolve(titled("a"), nodes=(above,))))

        found = [(hit.head, hit.is_leaf) for hit in index.best(["sorting"], limit=5)]

        assert [(evolve(above, children=()), False), (child, True)] == found

    def test_what_comes_goes_or_is_replaced_is_seen_at_once(self, make: Make) -> None:
        maps = stored(titled("a", "Trees"), titled("b", "Trees"))
        index = make(maps)
        before = asked(index, "trees")
        maps.remove("a")
        maps.put(titled("b", "Shrubs", "More trees"))
        maps.put(titled("c", "Trees"))

        after = asked(index, "trees")

        assert (["a Trees", "b Trees"], ["c Trees", "b More trees"]) == (before, after)
        assert ["b Shrubs"] == asked(index, "shrubs")

    def test_a_map_without_nodes_does_no_harm(self, make: Make) -> None:
        index = make(stored(titled("a"), titled("b", "Trees")))

        assert ["b Trees"] == asked(index, "trees")

    def test_damaged_maps_are_passed_over(self, make: Make, tmp_path: Path) -> None:
        maps = JsonMapStore(tmp_path / "maps")
        for name in ("a", "b", "c"):
            maps.put(titled(name, "Trees"))
        (tmp_path / "maps" / "b.json").write_text("{")

        assert ["a Trees", "c Trees"] == asked(make(maps), "trees")

    def test_the_limit_is_kept(self, make: Make) -> None:
        index = make(stored(titled("a", *(f"Trees {n}" for n in range(30)))))

        assert (3, 30) == (len(asked(index, "trees", limit=3)), len(asked(index, "trees", limit=1000)))


TITLES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
SUMMARIES = st.none() | st.lists(st.sampled_from(WORDS), max_size=25).map(", ".join)
MAPS = st.builds(
    lambda name, texts: a_map(name, *texts),
    st.sampled_from(["a", "b", "b.c", "é", "z"]),
    st.lists(st.tuples(TITLES, SUMMARIES), max_size=8),
)
CHANGES = st.lists(MAPS | st.sampled_from(["a", "b", "z"]), max_size=12)
ASKED = st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=9).map(" ".join)


class TestAgreement:
    @pytest.mark.long
    @given(
        changes=CHANGES,
        questions=st.lists(ASKED, min_size=1, max_size=4),
        scored=st.sampled_from([1, 2, 5, 500]),
        stride=st.sampled_from([1, 2, 5, 1 << 20]),
        limit=st.sampled_from([1, 3, 20]),
        expanded=st.sampled_from([0, 1, 2, 24]),
        resources=st.none() | st.lists(st.sampled_from(["a", "b", "b.c", "z", "none"]), max_size=4),
    )
    @pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
    def test_both_find_the_same_in_the_same_order(
        self,
        request: pytest.FixtureRequest,
        kind: str,
        tmp_path_factory: pytest.TempPathFactory,
        changes: Sequence[ResourceMap | str],
        questions: Sequence[str],
        scored: int,
        stride: int,
        limit: int,
        expanded: int,
        resources: Sequence[str] | None,
    ) -> None:
        maps = InMemoryMapStore()
        scanning = ScanningNodeIndex(maps)
        index: SqliteNodeIndex | PostgresNodeIndex
        if kind == "sqlite":
            index = SqliteNodeIndex(maps, tmp_path_factory.mktemp("home") / "words", stride=stride)
        else:
            database: Database = request.getfixturevalue("database")
            index = PostgresNodeIndex(maps, database, partial(str, secrets.token_hex(16)))
        index._scan = ScanningNodeIndex(InMemoryMapStore())  # an answer by scanning would be an empty one

        def answers(index: NodeIndex) -> list[Sequence[FoundNode]]:
            wanted = [list(dict.fromkeys(words_of(each))) for each in questions]
            return [index.best(words, limit=limit, resources=resources, scored=scored) for words in wanted]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(query_plan, "EXPANDED", expanded)
            for change in changes:
                if isinstance(change, ResourceMap):
                    maps.put(change)
                elif change in maps.ids():
                    maps.remove(change)
                if len(changes) % 2:
                    assert answers(scanning) == answers(index)

            assert answers(scanning) == answers(index)
        if isinstance(index, SqliteNodeIndex):
            index.close()
