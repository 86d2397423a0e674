"""alexandria_query: hits with addresses, chapters around them, and how the answer is to be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citekit.domain.errors import IndexUnavailable
from citekit.domain.library.vectors import CollectionFacts, Question
from citekit.entrypoints.mcp.library.query_tools import CHARACTERS
from tests.doubles.vector_index import MemoryVectorIndex
from tests.mcp.library_home import LibraryHome, chapter
from tests.representatives import representatives

BEES = "Where does the queen bee lay eggs in the hive?"
INGEST = ("alexandria_ingest", {"book_id": 1, "min_chunk_size": 40, "max_chunk_size": 120})


@pytest.fixture
def home(tmp_path: Path) -> LibraryHome:
    return LibraryHome.made(tmp_path)


def asked(home: LibraryHome, **arguments: Any) -> dict[str, Any]:
    _, answer = home.calls(INGEST, ("alexandria_query", {"query": BEES, "threshold": 0, **arguments}))
    return answer


def test_a_hit_says_what_it_is_from_and_where_it_is(home: LibraryHome) -> None:
    answer = asked(home)

    best = answer["results"][0]
    assert (BEES, 5, "precise", None) == (
        answer["query"],
        answer["result_count"],
        answer["context_mode"],
        answer["error"],
    )
    assert ("A Small Book", "Ada Writer & Bo Author", "Bees", "child") == (
        best["book_title"],
        best["author"],
        best["section_name"],
        best["chunk_level"],
    )
    assert best["text"].removeprefix("Bees").strip() in chapter("Bees")
    assert best["passage"]["address"].startswith("doc://small#chapter=2")  # its text is in that of the hit
    assert best["address"].startswith("doc://small#chapter=2")
    assert 2 == best["location"]["chapter"]
    assert sorted((each["score"] for each in answer["results"]), reverse=True) == [
        each["score"] for each in answer["results"]
    ]
    assert "parent_chunks" not in answer
    assert "parent_context" not in best


@pytest.mark.long
def test_a_hit_can_be_opened_by_the_other_tools(home: LibraryHome) -> None:
    async def work(client: Any) -> tuple[str, str]:
        await client.call_tool(*INGEST)
        found = await client.call_tool("alexandria_query", {"query": BEES, "threshold": 0})
        best = found.structured_content["results"][0]
        name = {"resource_id": best["resource_id"], "node_id": best["node_id"]}
        cited = await client.call_tool("resolve", {**name, "virtual": True})
        return best["address"], cited.structured_content["address"]

    hit, cited = home.ask(work)

    assert hit == cited


@pytest.mark.long
@pytest.mark.parametrize(("given", "count"), representatives([(0, 1), (-3, 1), (3, 3), (99, 20), (10**30, 20)], 3))
def test_the_limit_is_moved_to_its_bounds(home: LibraryHome, given: int, count: int) -> None:
    small = {"book_id": 1, "min_chunk_size": 5, "max_chunk_size": 20}

    _, answer = home.calls(
        ("alexandria_ingest", small), ("alexandria_query", {"query": BEES, "threshold": -1, "limit": given})
    )

    assert count == answer["result_count"]


@pytest.mark.long
def test_below_the_threshold_only_the_two_best_results_are_given_and_marked_as_weak(home: LibraryHome) -> None:
    every = asked(home)["results"]
    some = asked(home, threshold=0.9)["results"]
    none = asked(home, threshold=40)["results"]

    assert not any("weak" in each for each in every)
    assert all(each["score"] >= 0.9 or (each["weak"] and at < 2) for at, each in enumerate(some))
    assert [each["address"] for each in every[:2]] == [each["address"] for each in none]
    assert all(each["weak"] or each["score"] == 1 for each in none)


@pytest.mark.long
def test_a_mode_that_is_not_known_is_precise(home: LibraryHome) -> None:
    assert "precise" == asked(home, context_mode="everything")["context_mode"]


@pytest.mark.long
def test_contextual_gives_the_chapter_once_whole_and_around_each_hit(home: LibraryHome) -> None:
    answer = asked(home, context_mode="contextual", limit=1)

    (parent,) = answer["parent_chunks"]
    assert ("Bees", "parent", False) == (parent["section_name"], parent["chunk_level"], parent["truncated"])
    assert chapter("Bees") in parent["full_text"].replace("\n", " ")
    assert {parent["id"]} == {each["parent_id"] for each in answer["results"]}
    for each in answer["results"]:
        assert each["text"] in each["parent_context"]["full_text"]
        assert {"section_name", "text", "full_text", "truncated", "address"} == set(each["parent_context"])
        assert "siblings" not in each
    assert {"context_mode": "contextual", "parent_chunks_fetched": 1, "unique_chapters": 1} == answer["hierarchy_stats"]


@pytest.mark.long
def test_comprehensive_gives_the_neighbours_too(home: LibraryHome) -> None:
    answer = asked(home, context_mode="comprehensive", limit=1)

    best = answer["results"][0]
    assert best["siblings"]
    for each in best["siblings"]:
        assert each["position"] in (-2, -1, 1, 2)
        assert each["text"] != best["text"]
        assert each["text"] in answer["parent_chunks"][0]["full_text"]
        assert each["address"].startswith("doc://small#chapter=2")


@pytest.mark.long
def test_only_some_of_the_books_can_be_asked(home: LibraryHome) -> None:
    both = [("alexandria_ingest", {"book_id": number}) for number in (1, 2)]
    plain, tagged, none = home.calls(
        *both,
        ("alexandria_query", {"query": BEES, "threshold": 0, "author": "čelo"}),
        ("alexandria_query", {"query": BEES, "threshold": 0, "tags": "science, nature"}),
        ("alexandria_query", {"query": BEES, "author": "nobody"}),
    )[2:]

    assert {"Plain Notes"} == {each["book_title"] for each in plain["results"]}
    assert {"A Small Book"} == {each["book_title"] for each in tagged["results"]}
    assert "No book in the collection" in none["error"]


@pytest.mark.long
def test_only_some_of_the_resources_can_be_asked(home: LibraryHome) -> None:
    both = [("alexandria_ingest", {"book_id": number}) for number in (1, 2)]
    ids = ["small", "plain_txt"]
    one, several, none = home.calls(
        *both,
        ("alexandria_query", {"query": BEES, "threshold": 0, "resource_id": ids[1]}),
        ("alexandria_query", {"query": BEES, "threshold": 0, "resource_id": f"{ids[0]}, {ids[1]}"}),
        ("alexandria_query", {"query": BEES, "resource_id": "nothing"}),
    )[2:]

    assert {ids[1]} == {each["resource_id"] for each in one["results"]}
    assert set(ids) == {each["resource_id"] for each in several["results"]}
    assert "No book in the collection" in none["error"]


@pytest.mark.long
def test_the_texts_of_an_answer_without_context_have_a_budget(home: LibraryHome) -> None:
    ingest = ("alexandria_ingest", {"book_id": 1, "min_chunk_size": 300, "max_chunk_size": 1000})
    query = {"query": BEES, "threshold": 0, "limit": 20}
    _, usual, whole = home.calls(
        ingest, ("alexandria_query", query), ("alexandria_query", {**query, "max_chars": 100_000})
    )

    marks = len("[...]  [...]") * len(usual["results"])
    assert sum(len(each["text"]) for each in usual["results"]) <= max(CHARACTERS, 200 * len(usual["results"])) + marks
    assert [each["address"] for each in whole["results"]] == [each["address"] for each in usual["results"]]


@pytest.mark.long
def test_numbers_out_of_range_are_reported_and_failures_are_marked(home: LibraryHome) -> None:
    answer = asked(home, limit=99, guardian="nobody")

    limited, guardians = answer["notes"]
    assert "limit must be from 1 to 20: 20 was used instead of 99." == limited
    assert guardians.startswith("The guardians are: none, zec, ")
    assert "nobody" in answer["guardian_error"]
    assert "notes" not in asked(home, limit=20)

    async def work(client: Any) -> list[bool]:
        await client.call_tool(*INGEST)
        results = [await client.call_tool("alexandria_query", {"query": query}) for query in (" ", BEES)]
        return [result.is_error for result in results]

    assert [True, False] == home.ask(work)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["precise", "comprehensive"])
def test_texts_are_cut_around_the_best_passage_and_given_once(home: LibraryHome, mode: str) -> None:
    ingest = ("alexandria_ingest", {"book_id": 1, "min_chunk_size": 100, "max_chunk_size": 300})
    query = {"query": BEES, "threshold": 0, "context_mode": mode, "max_chars": 100_000}
    _, whole, cut = home.calls(ingest, ("alexandria_query", query), ("alexandria_query", {**query, "max_chars": 1_000}))

    assert [each["address"] for each in whole["results"]] == [each["address"] for each in cut["results"]]
    assert any(len(each["text"]) > 250 for each in whole["results"])
    for before, after in zip(whole["results"], cut["results"], strict=True):
        assert len(after["text"]) <= 200 + len("[...]  [...]")
        assert after["text"].removeprefix("[...] ").removesuffix(" [...]") in before["text"]
        assert "text" not in after["passage"] or after["passage"]["text"] not in after["text"]
        assert "full_text" not in after.get("parent_context", {})
    assert all("full_text" not in each for each in cut.get("parent_chunks", ()))


@pytest.mark.long
def test_the_default_guardian_speaks(home: LibraryHome) -> None:
    answer = asked(home)

    assert ("zec", "Zec", "🐇") == (answer["guardian"], answer["guardian_name"], answer["guardian_emoji"])
    assert answer["response_instruction"].startswith("You are Zec")
    assert "response_pattern" not in answer


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "guardian", "keys", "instruction"),
    representatives(
        [
            (
                "tldr",
                "lupita",
                {"response_pattern", "guardian", "guardian_name", "guardian_emoji"},
                "pig|three sentences",
            ),
            ("direct", "none", {"response_pattern"}, "Answer the question"),
            ("free", "none", set(), None),
            ("nonsense", "none", {"response_pattern_error"}, None),
            ("synthesis", "nobody", {"response_pattern", "guardian_error"}, "Compare what"),
            (
                "nonsense",
                "zec",
                {"response_pattern_error", "guardian", "guardian_name", "guardian_emoji"},
                "You are Zec",
            ),
        ],
        3,
    ),
)
def test_guardian_and_pattern_make_the_instruction(
    home: LibraryHome, pattern: str, guardian: str, keys: set[str], instruction: str | None
) -> None:
    answer = asked(home, response_pattern=pattern, guardian=guardian)

    manner = {key for key in answer if "guardian" in key or "pattern" in key}
    assert keys == manner
    assert (instruction is None) is ("response_instruction" not in answer)
    assert all(part in answer["response_instruction"] for part in (instruction or "").split("|") if instruction)
    assert answer.get("response_pattern_error") in (None, "Unknown pattern: nonsense")
    assert answer.get("guardian_error") in (None, "Unknown guardian: nobody")
    known = {
        "response_pattern_error": "The response patterns are: free, synthesis, ",
        "guardian_error": "The guardians are: none, zec, ",
    }
    begun = [start for key, start in known.items() if key in answer]
    assert all(note.startswith(start) for start, note in zip(begun, answer.get("notes", ()), strict=True))


class Unreachable(MemoryVectorIndex):
    def facts(self, collection: str) -> CollectionFacts | None:
        raise IndexUnavailable("No Qdrant at nowhere:6333.")

    def search(self, collection: str, question: Question) -> Any:
        raise IndexUnavailable("No Qdrant at nowhere:6333.")


@pytest.fixture
def failing(home: LibraryHome) -> LibraryHome:
    return home.without(index=Unreachable())


def test_an_index_that_cannot_be_reached_is_told_inside_the_answer(failing: LibraryHome) -> None:
    answer = failing.call("alexandria_query", query=BEES, context_mode="contextual")

    assert {
        "success": False,
        "query": BEES,
        "results": [],
        "result_count": 0,
        "context_mode": "contextual",
        "error": "Qdrant search failed: No Qdrant at nowhere:6333.",
    } == answer


@pytest.mark.parametrize("query", ["", "   ", "x" * 20_000])
def test_an_empty_or_endless_question_is_refused(home: LibraryHome, query: str) -> None:
    answer = home.call("alexandria_query", query=query)

    assert (False, []) == (answer["success"], answer["results"])
    assert "question" in answer["error"]


def test_an_error_repeats_only_the_beginning_of_a_long_question(home: LibraryHome) -> None:
    answer = asked(home, query="why " * 2000, collection="nowhere")

    assert answer["error"]
    assert len(answer["query"]) < 500


def test_a_collection_that_is_not_there_is_told(home: LibraryHome) -> None:
    answer = home.call("alexandria_query", query=BEES, collection="empty")

    assert answer["error"].startswith("Qdrant search failed: ")
    assert "'empty'" in answer["error"]


def test_guardians_are_listed_the_default_first(home: LibraryHome) -> None:
    answer = home.call("alexandria_guardians")

    assert ("zec", 11, 11, None) == (answer["default"], answer["count"], len(answer["guardians"]), answer["error"])
    assert {"id", "name", "title", "emoji", "role", "specialties", "greeting"} == set(answer["guardians"][0])
    assert "zec" == answer["guardians"][0]["id"]
