"""The contract of every ranking index."""

from __future__ import annotations

import math
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.search.ranking_index.postgres_index import PostgresRankingIndex
from citekit.adapters.search.ranking_index.sqlite_index import DATABASE, SqliteRankingIndex
from citekit.domain.library.lexical import term_number
from citekit.domain.ports.ranking_index import PassageVectors, RankingIndex
from citekit.domain.ranking.document_index import DocumentIndex, PageText, index_document
from citekit.domain.ranking.documents import DocumentMatches, name_terms
from tests.doubles.ranking_index import MemoryRankingIndex

Make = Callable[[], RankingIndex]
NO_VECTORS = PassageVectors()


@pytest.fixture(params=["memory", "sqlite", "postgresql"], scope="session")
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Make:
    if request.param == "memory":
        return MemoryRankingIndex
    if request.param == "postgresql":
        database: Database = request.getfixturevalue("database")
        return lambda: PostgresRankingIndex(database, partial(str, secrets.token_hex(16)))
    return lambda: SqliteRankingIndex(tmp_path_factory.mktemp("home") / "ranking")


def document(*pages: str) -> DocumentIndex:
    return index_document(PageText(text, number) for number, text in enumerate(pages, 1))


def put(index: RankingIndex, name: str, version: str, *pages: str, names: Sequence[str] = ()) -> bool:
    return index.put(name, version, document(*pages), name_terms(names), NO_VECTORS)


def test_documents_are_found_by_the_stems_of_their_words_and_by_their_names(make: Make) -> None:
    index = make()
    assert put(index, "bees", "1", "Bees store honey", "honey and more honey", names=["On Bees"])
    assert put(index, "oaks", "1", "The oak grows")

    found = index.find(["honey", "oak", "absen", "!bees"])

    assert [DocumentMatches(2, 3, ["bees"])] == list(found["honey"])
    assert [DocumentMatches(1, 1, ["oaks"])] == list(found["oak"])
    assert [["bees"]] == [each.resource_ids for each in found["!bees"]]
    assert "absen" not in found
    assert {"bees": ("1", 2), "oaks": ("1", 1)} == index.documents()


def test_the_list_of_documents_is_the_same_object_until_the_index_changes(make: Make) -> None:
    index = make()
    assert {} == index.documents() is index.documents()
    put(index, "a", "1", "words")
    first = index.documents()
    assert {"a": ("1", 1)} == first is index.documents()

    put(index, "a", "2", "other words", "of two pages")
    second = index.documents()
    assert {"a": ("2", 2)} == second is index.documents()
    assert first is not second

    index.drop("a")
    assert {} == index.documents()


def test_another_process_changes_the_list_of_documents(tmp_path: Path, database: Database) -> None:
    two_of_each = (
        (SqliteRankingIndex(tmp_path), SqliteRankingIndex(tmp_path)),
        (PostgresRankingIndex(database, lambda: "twice"), PostgresRankingIndex(database, lambda: "twice")),
    )
    for index, other in two_of_each:
        put(index, "a", "1", "words")
        assert {"a": ("1", 1)} == index.documents() == other.documents()

        put(other, "b", "1", "words")
        assert {"a": ("1", 1), "b": ("1", 1)} == index.documents() is index.documents()
        other.drop("a")
        assert {"b": ("1", 1)} == index.documents() == other.documents()


def test_a_document_is_returned_only_with_its_version(make: Make) -> None:
    index = make()
    put(index, "a", "1", "old words", names=["First"])
    put(index, "a", "2", "new words", names=["Second"])

    held = index.get("a", "2")

    assert index.get("a", "1") is None
    assert index.get("b", "2") is None
    assert held is not None
    assert document("new words") == held.index
    assert {} == index.find(["old", "!first"])
    assert {"new", "!secon"} == set(index.find(["new", "!secon"]))


def test_a_removed_document_is_gone(make: Make) -> None:
    index = make()
    put(index, "a", "1", "words", names=["Name"])
    put(index, "b", "1", "words")
    index.drop("a")
    index.drop("never there")

    assert [["b"]] == [each.resource_ids for each in index.find(["words", "!name"])["words"]]
    assert {"b": ("1", 1)} == index.documents()
    assert index.get("a", "1") is None


def test_similarities_are_those_of_the_best_passage_of_each_page(make: Make) -> None:
    index = make()
    half = math.sqrt(0.5)
    vectors = PassageVectors([(1.0, 0.0), (half, half), (0.0, -1.0)], [0, 0, 2])
    index.put("a", "1", document("one", "two", "three"), (), vectors)
    put(index, "b", "1", "one")
    with_vectors, without = index.get("a", "1"), index.get("b", "1")
    assert with_vectors is not None
    assert without is not None

    assert [half, 0.0, -1.0] == pytest.approx(list(with_vectors.similarities((0.0, 1.0)) or ()), abs=0.01)
    assert without.similarities((0.0, 1.0)) is None


@given(st.lists(st.text(max_size=60), max_size=6))
def test_a_document_is_returned_as_it_was_put(make: Make, pages: list[str]) -> None:
    index = make()
    assert put(index, "a", "1", *pages)
    held = index.get("a", "1")

    assert held is not None
    assert document(*pages) == held.index


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE document SET data = x'00'",
        "UPDATE document SET pages = 7",
        "UPDATE document SET code = x'00'",
        "UPDATE document SET resource_id = 'b'",
        "UPDATE document SET pages = 'many'",
    ],
)
def test_a_document_that_this_home_did_not_store_counts_as_not_indexed(tmp_path: Path, damage: str) -> None:
    index = SqliteRankingIndex(tmp_path)
    put(index, "a", "1", "words")
    index.close()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute(damage)
    connection.close()
    name = "b" if "resource_id" in damage else "a"

    assert SqliteRankingIndex(tmp_path).get(name, "1") is None
    assert {} == SqliteRankingIndex(tmp_path).documents()
    assert put(index, "a", "1", "words")
    assert index.get("a", "1") is not None


@pytest.mark.parametrize("row", ["77, '{token}p1c1'", "1, '{token}pxc1 {token}p1c{token}'"])
def test_tokens_that_this_home_did_not_write_find_nothing(tmp_path: Path, row: str) -> None:
    index = SqliteRankingIndex(tmp_path)
    put(index, "a", "1", "other")
    index.close()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        tokens = row.format(token=f"{term_number('words'):08x}")
        connection.execute(f"INSERT INTO term (rowid, tokens) VALUES ({tokens})")
    connection.close()

    assert {} == SqliteRankingIndex(tmp_path).find(["words"])


def test_indexes_in_a_database_have_nothing_in_common_and_are_shared_by_name(database: Database) -> None:
    ours, same, theirs = (PostgresRankingIndex(database, partial(str, name)) for name in ("ours", "ours", "theirs"))
    put(ours, "a", "1", "words")
    put(theirs, "a", "2", "words of others", "more words")

    assert [DocumentMatches(1, 1, ["a"])] == list(same.find(["words"])["words"])
    assert {"a": ("1", 1)} == same.documents()
    put(ours, "b", "1", "new words")
    assert {"a": ("1", 1), "b": ("1", 1)} == same.documents()
    theirs.drop("a")
    assert same.get("a", "1") is not None
    assert ({}, {}) == (theirs.documents(), theirs.find(["words"]))


def test_a_damaged_document_in_a_database_counts_as_not_indexed_after_it_was_read(database: Database) -> None:
    index = PostgresRankingIndex(database, lambda: "damaged")
    put(index, "a", "1", "words")
    database.run(
        lambda connection: connection.execute(
            "UPDATE citekit_ranked SET data = 'abc' WHERE space = %s AND resource = 'a'", (index._space,)
        )
    )

    assert index.get("a", "1") is None
    assert ({}, {}) == (index.documents(), index.find(["words"]))


def test_resource_ids_in_a_database_may_have_half_surrogate_pairs(database: Database) -> None:
    index = PostgresRankingIndex(database, lambda: "half")
    put(index, "\udce9'%s", "1", "words", "more")

    assert {"\udce9'%s": ("1", 2)} == index.documents()
    assert [DocumentMatches(1, 1, ["\udce9'%s"])] == list(index.find(["words"])["words"])
