"""What every vector index promises."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citekit.adapters.libraries.qdrant_client import QdrantSettings
from citekit.adapters.search.vector_index.edge import EdgeVectorIndex
from citekit.adapters.search.vector_index.server import QdrantVectorIndex
from citekit.domain.errors import CollectionMissing, ModelMismatch, RequestRefused
from citekit.domain.library.vectors import EmbedderIdentity, Entry, Found, Question, SparseVector, Where
from citekit.domain.ports.vector_index import VectorIndex
from tests.doubles.vector_index import MemoryVectorIndex

MODEL = EmbedderIdentity("static", "1", 3)
OTHERS = [EmbedderIdentity("other", "1", 3), EmbedderIdentity("static", "2", 3), EmbedderIdentity("static", "1", 4)]
ODD_NAMES = ["", ".", "..", ".hidden", "a/b", "../up", "a\\b", "a b", "a\n", "a\0", "é", "-a", "x" * 65]
GOOD_NAMES = ["a", "A-b_c.d", "0", "x" * 64]

pytest.importorskip("qdrant_edge")
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect", "ignore:Local mode performs exact")
Factory = Callable[[], VectorIndex]


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory where there is one: the engine waits for the disk hundreds of times."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path_factory.mktemp("indexes")
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture(params=["memory", "edge", "client"], scope="session")
def new_index(request: pytest.FixtureRequest, quick_folder: Path) -> Factory:
    def make() -> VectorIndex:
        if request.param == "memory":
            return MemoryVectorIndex()
        if request.param == "edge":
            return EdgeVectorIndex(Path(tempfile.mkdtemp(dir=quick_folder)))
        return QdrantVectorIndex(QdrantSettings(), _in_memory, "the client's memory")

    return make


@pytest.fixture(scope="session")
def emptied(new_index: Factory) -> Factory:
    """One index whose collection is emptied each time, for laws that need many."""
    made = new_index()
    made.create("books", MODEL)

    def empty() -> VectorIndex:
        made.remove("books", Where({"language": ("eng", "deu")}))
        assert 0 == made.count("books")
        return made

    return empty


def _in_memory(_: QdrantSettings) -> Any:
    import qdrant_client

    return qdrant_client.QdrantClient(":memory:")


@pytest.fixture
def index(new_index: Factory) -> VectorIndex:
    made = new_index()
    made.create("books", MODEL)
    return made


def an_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def unit(*values: float) -> list[float]:
    length = math.sqrt(math.fsum(value * value for value in values)) or 1.0
    return [value / length for value in values]


def an_entry(number: int, *vector: float, words: dict[int, float] | None = None, **payload: Any) -> Entry:
    sparse = SparseVector(tuple(sorted(words)), tuple(words[key] for key in sorted(words))) if words else None
    return Entry(an_id(number), f"group {number}", unit(*vector) if vector else None, sparse, payload)


def by_vector(*vector: float, limit: int = 10, where: Where | None = None) -> Question:
    return Question(unit(*vector), None, limit, where or Where())


def by_words(*words: int, limit: int = 10, where: Where | None = None) -> Question:
    return Question(None, SparseVector(words, (1.0,) * len(words)), limit, where or Where())


def numbers(found: Sequence[Any]) -> list[int]:
    return [uuid.UUID(hit.id).int for hit in found]


numbers_below_9 = st.integers(0, 8)
vectors = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)
bags = st.dictionaries(st.integers(0, 5), st.integers(1, 8).map(lambda eighth: eighth / 4), min_size=1, max_size=4)
entries = st.lists(
    st.builds(
        lambda number, vector, words, language: an_entry(number, *vector, words=words, language=language),
        st.integers(0, 40),
        vectors,
        bags,
        st.sampled_from(["eng", "deu"]),
    ),
    max_size=25,
)
laws = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class TestCollections:
    def test_an_index_begins_empty(self, new_index: Factory) -> None:
        assert [] == list(new_index().collections())

    def test_collections_are_listed_sorted(self, index: VectorIndex) -> None:
        index.create("atlas", MODEL)
        index.create("zoo", MODEL)

        assert ["atlas", "books", "zoo"] == list(index.collections())

    def test_the_facts_tell_model_and_number(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 1, 0, 0), an_entry(2, words={1: 1.0})])

        facts = index.facts("books")

        assert facts is not None
        assert ("books", MODEL, 2, "green", index.place) == (
            facts.name,
            facts.model,
            facts.points,
            facts.status,
            facts.place,
        )

    def test_there_are_no_facts_of_what_is_not_there(self, index: VectorIndex) -> None:
        assert index.facts("nothing") is None

    def test_creating_again_keeps_what_is_there(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 1, 0, 0)])

        index.create("books", MODEL)

        assert 1 == index.count("books")

    @pytest.mark.parametrize("model", OTHERS, ids=str)
    def test_another_model_is_refused(self, index: VectorIndex, model: EmbedderIdentity) -> None:
        with pytest.raises(ModelMismatch, match="static:1") as refused:
            index.create("books", model)

        assert str(model) in str(refused.value)

    def test_what_is_dropped_is_gone_and_may_be_made_of_another_model(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 1, 0, 0)])

        index.drop("books")
        index.drop("books")
        gone = list(index.collections()), index.facts("books")
        index.create("books", OTHERS[2])

        assert ([], None) == gone
        assert 0 == index.count("books")

    def test_an_unknown_collection_names_those_there_are(self, index: VectorIndex) -> None:
        calls: list[Callable[[], object]] = [
            lambda: index.put("nothing", [an_entry(1, 1, 0, 0)]),
            lambda: index.remove("nothing", Where({"a": ("b",)})),
            lambda: index.search("nothing", by_vector(1, 0, 0)),
            lambda: index.fetch("nothing", [an_id(1)]),
            lambda: index.matching("nothing", Where()),
            lambda: index.count("nothing"),
            lambda: index.flush("nothing"),
        ]
        for call in calls:
            with pytest.raises(CollectionMissing, match=r"'nothing'.*books"):
                call()

    @pytest.mark.parametrize("name", ODD_NAMES)
    def test_odd_names_are_refused(self, index: VectorIndex, name: str) -> None:
        calls: list[Callable[[], object]] = [
            lambda: index.create(name, MODEL),
            lambda: index.facts(name),
            lambda: index.count(name),
            lambda: index.drop(name),
        ]
        for call in calls:
            with pytest.raises(RequestRefused, match="is not a valid name for a collection"):
                call()

    @pytest.mark.parametrize("name", GOOD_NAMES)
    def test_plain_names_are_taken(self, new_index: Factory, name: str) -> None:
        index = new_index()

        index.create(name, MODEL)

        assert [name] == list(index.collections())

    def test_after_closing_everything_is_still_there(self, index: VectorIndex) -> None:
        if isinstance(index, QdrantVectorIndex):
            pytest.skip("the client's memory ends with the client")
        index.put("books", [an_entry(1, 1, 0, 0, words={3: 1.0}, tags=["a"])])
        before = index.search("books", by_vector(1, 0, 0))

        index.close()
        index.close()

        assert before == index.search("books", by_vector(1, 0, 0))


class TestSearching:
    def test_an_empty_collection_finds_nothing(self, index: VectorIndex) -> None:
        found = index.search("books", Question(unit(1, 0, 0), SparseVector((1,), (1.0,)), 5))

        assert Found(known=0.0) == found

    def test_the_nearest_is_first_and_scores_are_cosines(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 0, 1, 0), an_entry(2, 3, 4, 0), an_entry(3, -1, 0, 0)])

        found = index.search("books", by_vector(1, 0, 0)).dense

        assert [2, 1, 3] == numbers(found)
        assert [0.6, 0.0, -1.0] == pytest.approx([hit.score for hit in found], abs=1e-3)
        assert ["group 2", "group 1", "group 3"] == [hit.group for hit in found]

    def test_a_question_without_vector_or_words_asks_for_what_it_has(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 1, 0, 0), an_entry(2, words={7: 1.0})])

        near, having = index.search("books", by_vector(1, 0, 0)), index.search("books", by_words(7))

        assert ([1], []) == (numbers(near.dense), numbers(near.lexical))
        assert ([], [2]) == (numbers(having.dense), numbers(having.lexical))

    def test_words_that_nobody_has_find_nothing(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, words={1: 1.0})])

        assert Found(known=0.0) == index.search("books", by_words(2, 3))

    def test_the_greatest_number_of_a_word_is_found(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, words={2**32 - 1: 1.0})])

        assert [1] == numbers(index.search("books", by_words(2**32 - 1)).lexical)

    @pytest.mark.parametrize("limit", [0, -1])
    def test_a_limit_of_nothing_gives_nothing(self, index: VectorIndex, limit: int) -> None:
        index.put("books", [an_entry(1, 1, 0, 0, words={1: 1.0})])

        found = index.search("books", Question(unit(1, 0, 0), SparseVector((1,), (1.0,)), limit))

        assert ((), ()) == (found.dense, found.lexical)

    def test_equal_scores_are_sorted_by_id_wherever_the_limit_cuts(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(number, 1, 0, 0, words={1: 1.0}) for number in range(400, 0, -1)])

        for limit in (1, 2, 100, 130, 200):
            found = index.search("books", Question(unit(1, 0, 0), SparseVector((1,), (1.0,)), limit))

            assert list(range(1, limit + 1)) == numbers(found.dense) == numbers(found.lexical)

    @pytest.mark.long
    @laws
    @given(entries)
    def test_an_entry_finds_itself_first(self, emptied: Factory, stored: list[Entry]) -> None:
        index = emptied()
        index.put("books", stored)

        for entry in {entry.id: entry for entry in stored}.values():
            found = index.search("books", Question(entry.vector, None, 100)).dense
            mine = next(hit for hit in found if hit.id == entry.id)

            assert mine.score == pytest.approx(found[0].score, abs=1e-3)
            assert mine.score == pytest.approx(1.0, abs=1e-3)

    @laws
    @given(entries, vectors, st.sets(numbers_below_9, max_size=4), st.integers(0, 12))
    def test_a_limit_is_a_prefix_of_the_next(
        self, emptied: Factory, stored: list[Entry], vector: tuple[int, ...], words: set[int], limit: int
    ) -> None:
        index = emptied()
        index.put("books", stored)
        sparse = SparseVector(tuple(sorted(words)), (1.0,) * len(words))

        one = index.search("books", Question(unit(*vector), sparse, limit))
        more = index.search("books", Question(unit(*vector), sparse, limit + 1))

        assert (one.dense, one.lexical) == (more.dense[:limit], more.lexical[:limit])
        assert len(more.dense) <= limit + 1
        assert one.ceiling == pytest.approx(more.ceiling, rel=1e-6)  # engines count in single precision

    @pytest.mark.long
    @laws
    @given(entries, st.sets(st.integers(0, 6), min_size=1, max_size=4))
    def test_lexical_scores_follow_the_formula(self, new_index: Factory, stored: list[Entry], words: set[int]) -> None:
        index = new_index()  # an engine may count the removed among the rare until it tidies up
        index.create("books", MODEL)
        index.put("books", stored)
        kept = {entry.id: entry for entry in stored}
        expected = {key: score for key, score in formula(list(kept.values()), words).items() if score}

        found = index.search("books", by_words(*sorted(words), limit=100))

        assert expected == pytest.approx({hit.id: hit.score for hit in found.lexical}, rel=1e-4)
        assert all(hit.score <= found.ceiling for hit in found.lexical)
        assert best_alone(list(kept.values()), words) == pytest.approx(found.ceiling, rel=1e-4)
        there = {word for entry in kept.values() for word in (entry.words.indices if entry.words else ())}
        assert len(words & there) / len(words) == pytest.approx(found.known)

    def test_the_weight_of_a_word_in_the_question_counts(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, words={1: 1.0}), an_entry(2, words={2: 1.0})])

        found = index.search("books", Question(None, SparseVector((1, 2), (1.0, 3.0)), 5)).lexical

        assert [2, 1] == numbers(found)
        assert found[0].score == pytest.approx(found[1].score * 3, rel=1e-5)

    def test_a_vector_of_another_length_is_refused(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 1, 0, 0)])

        with pytest.raises(ModelMismatch, match="2 dimensions"):
            index.search("books", Question([1.0, 0.0], None, 5))
        with pytest.raises(ModelMismatch, match="2 dimensions"):
            index.put("books", [an_entry(2, 1, 0)])
        assert 1 == index.count("books")


def formula(stored: Sequence[Entry], words: set[int]) -> dict[str, float]:
    return {entry.id: sum(alone(stored, entry, word) for word in words) for entry in stored}


def best_alone(stored: Sequence[Entry], words: set[int]) -> float:
    return sum(max((alone(stored, entry, word) for entry in stored), default=0.0) for word in words)


def alone(stored: Sequence[Entry], entry: Entry, word: int) -> float:
    having = [dict(zip(one.words.indices, one.words.values, strict=True)) for one in stored if one.words]
    count = sum(word in one for one in having)
    own = dict(zip(entry.words.indices, entry.words.values, strict=True)) if entry.words else {}
    return own.get(word, 0.0) * math.log(1 + (len(having) - count + 0.5) / (count + 0.5))


class TestStoring:
    def test_what_is_fetched_is_what_was_put_without_vector_and_words(self, index: VectorIndex) -> None:
        payload = {"text": "Ünïcode 日本", "page": 3, "share": 0.5, "tags": ["a", "b"], "deep": {"x": [1, None, True]}}
        index.put("books", [an_entry(1, 1, 0, 0, words={1: 1.0}, **payload)])

        (found,) = index.fetch("books", [an_id(1)])

        assert Entry(an_id(1), "group 1", None, None, payload) == found

    def test_fetching_keeps_the_order_asked_for_and_leaves_out_the_unknown(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(number, 1, 0, 0) for number in range(5)])

        found = index.fetch("books", [an_id(number) for number in (3, 99, 0, 4, 3)])

        assert [3, 0, 4, 3] == numbers(found)
        assert [] == list(index.fetch("books", []))

    def test_putting_twice_is_once(self, index: VectorIndex) -> None:
        stored = [an_entry(number, 1, number, 0, words={number: 1.0}) for number in range(6)]
        index.put("books", stored)
        before = index.search("books", Question(unit(1, 2, 0), SparseVector((2, 3), (1.0, 1.0)), 6))

        index.put("books", [*stored, *stored])

        assert 6 == index.count("books")
        assert before == index.search("books", Question(unit(1, 2, 0), SparseVector((2, 3), (1.0, 1.0)), 6))

    def test_putting_replaces_vector_words_group_and_payload(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(1, 1, 0, 0, words={1: 1.0}, old="x"), an_entry(2, 1, 0, 0, words={1: 1.0})])

        index.put("books", [Entry(an_id(1), "new", None, SparseVector((2,), (1.0,)), {"new": "y"})])

        assert [2] == numbers(index.search("books", by_vector(1, 0, 0)).dense)
        assert ([2], [1]) == (
            numbers(index.search("books", by_words(1)).lexical),
            numbers(index.search("books", by_words(2)).lexical),
        )
        assert [Entry(an_id(1), "new", None, None, {"new": "y"})] == list(index.fetch("books", [an_id(1)]))

    def test_more_than_a_batch_is_put(self, index: VectorIndex) -> None:
        index.put("books", (an_entry(number, 1, 0, 0) for number in range(1201)))

        assert 1201 == index.count("books")

    @pytest.mark.parametrize(
        "entry",
        [
            Entry("no uuid", "g", [1.0, 0.0, 0.0]),
            Entry(an_id(1), "g", [math.nan, 0.0, 0.0]),
            Entry(an_id(1), "g", [math.inf, -math.inf, 0.0]),
            Entry(an_id(1), "g", None, SparseVector((2, 1), (1.0, 1.0))),
            Entry(an_id(1), "g", None, SparseVector((1, 1), (1.0, 1.0))),
            Entry(an_id(1), "g", None, SparseVector((1, 2), (1.0,))),
            Entry(an_id(1), "g", None, SparseVector((-1,), (1.0,))),
            Entry(an_id(1), "g", None, SparseVector((2**32,), (1.0,))),
            Entry(an_id(1), "g", None, SparseVector((1,), (0.0,))),
            Entry(an_id(1), "g", None, SparseVector((1,), (math.nan,))),
            Entry(an_id(1), "g", None, None, {"_group": "x"}),
        ],
        ids=str,
    )
    def test_what_no_engine_takes_is_refused_and_nothing_is_stored(self, index: VectorIndex, entry: Entry) -> None:
        with pytest.raises(RequestRefused):
            index.put("books", [entry])

        assert 0 == index.count("books")

    def test_several_threads_put_and_search_at_once(self, index: VectorIndex) -> None:
        if isinstance(index, QdrantVectorIndex):
            pytest.skip("the client's memory is for one thread; a server's client is for many")
        failures: list[BaseException] = []

        def work(part: int) -> None:
            try:
                for number in range(part * 100, part * 100 + 20):
                    index.put("books", [an_entry(number, 1, number, 0)])
                    assert index.search("books", by_vector(1, number, 0)).dense
                index.flush("books")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert [] == failures
        assert 80 == index.count("books")


class TestConditions:
    @pytest.fixture
    def shelf(self, index: VectorIndex) -> VectorIndex:
        index.put(
            "books",
            [
                an_entry(1, 1, 0, 0, words={1: 1.0}, language="eng", tags=["a", "b"], book_id=7, kind="chunk"),
                an_entry(2, 1, 0, 0, words={1: 2.0}, language="deu", tags=["b"], book_id=8),
                an_entry(3, 1, 0, 0, words={1: 3.0}, language="eng", tags=[], book_id=9, **{"x.y[0]": "odd"}),
                an_entry(4, 1, 0, 0, words={1: 4.0}),
            ],
        )
        return index

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, [1, 2, 3, 4]),
            ({"language": ("eng",)}, [1, 3]),
            ({"language": ("eng", "deu")}, [1, 2, 3]),
            ({"language": ("eng",), "tags": ("b",)}, [1]),
            ({"tags": ("a", "zzz")}, [1]),
            ({"tags": ("b",)}, [1, 2]),
            ({"book_id": (8, 9)}, [2, 3]),
            ({"book_id": ("8", 9)}, [3]),
            ({"language": ("ENG",)}, []),
            ({"language": ()}, []),
            ({"unknown": ("x",)}, []),
            ({"x.y[0]": ("odd",)}, [3]),
            ({"kind": ("chunk",), "book_id": (7,), "language": ("eng",)}, [1]),
        ],
    )
    def test_a_condition_holds_everywhere(
        self, shelf: VectorIndex, fields: dict[str, tuple[str | int, ...]], expected: list[int]
    ) -> None:
        where = Where(fields)

        assert expected == numbers(shelf.search("books", by_vector(1, 0, 0, where=where)).dense)
        assert expected[::-1] == numbers(shelf.search("books", by_words(1, where=where)).lexical)
        assert expected == numbers(shelf.matching("books", where))
        assert len(expected) == shelf.count("books", where)

    def test_a_condition_changes_neither_scores_nor_ceiling(self, shelf: VectorIndex) -> None:
        every, some = (
            shelf.search("books", by_words(1, where=where)) for where in (Where(), Where({"language": ("eng",)}))
        )

        assert every.ceiling == some.ceiling
        assert [hit for hit in every.lexical if numbers([hit])[0] in (1, 3)] == list(some.lexical)

    def test_removing_removes_what_fits_and_nothing_else(self, shelf: VectorIndex) -> None:
        shelf.remove("books", Where({"language": ("eng",), "book_id": (7, 8)}))

        assert [2, 3, 4] == numbers(shelf.matching("books", Where()))
        assert [2, 3, 4] == numbers(shelf.search("books", by_vector(1, 0, 0)).dense)

    @pytest.mark.parametrize("fields", [{}, {"language": ()}])
    def test_a_condition_that_says_nothing_removes_nothing(
        self, shelf: VectorIndex, fields: dict[str, tuple[str, ...]]
    ) -> None:
        shelf.remove("books", Where(fields))

        assert 4 == shelf.count("books")

    def test_matching_is_bounded(self, shelf: VectorIndex) -> None:
        assert [1, 2] == numbers(shelf.matching("books", Where(), limit=2))
        assert [] == list(shelf.matching("books", Where(), limit=0))

    @pytest.mark.long
    def test_matching_goes_on_beyond_a_page(self, index: VectorIndex) -> None:
        index.put("books", [an_entry(number, 1, 0, 0) for number in range(2300)])

        assert list(range(2300)) == numbers(index.matching("books", Where()))

    @laws
    @given(entries, st.sampled_from(["eng", "deu"]))
    def test_what_is_found_under_a_condition_is_what_fits(
        self, emptied: Factory, stored: list[Entry], language: str
    ) -> None:
        index = emptied()
        index.put("books", stored)
        kept = {entry.id: entry for entry in stored}
        fitting = {key for key, entry in kept.items() if entry.payload["language"] == language}

        found = index.search("books", by_vector(1, 2, 3, limit=100, where=Where({"language": (language,)})))

        assert fitting == {hit.id for hit in found.dense}
        index.remove("books", Where({"language": (language,)}))
        assert len(kept) - len(fitting) == index.count("books")


def test_the_port_is_what_every_index_is(tmp_path: Path) -> None:
    every: list[VectorIndex] = [MemoryVectorIndex(), EdgeVectorIndex(tmp_path), QdrantVectorIndex(QdrantSettings())]

    assert ["memory", str(tmp_path)] == [index.place for index in every[:2]]
