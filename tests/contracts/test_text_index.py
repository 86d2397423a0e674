"""The contract of every text index."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.libraries.postgres.database import Database
from citekit.adapters.search.text_index.postgres_index import PostgresTextIndex
from citekit.adapters.search.text_index.sqlite_index import SqliteTextIndex
from citekit.domain.library.extracted_text import ExtractedText, SheetRows, Unit, UnitKind
from citekit.domain.modality import Modality
from citekit.domain.ports.text_index import IndexedText, TextIndex
from citekit.domain.quotes.transcript import Transcript
from citekit.domain.text_search.blocks import TextBlock
from citekit.domain.words import words_of
from tests.doubles.text_index import MemoryTextIndex

Make = Callable[[], TextIndex]

WORDS = ["total", "assets", "Ünïcode", "Ελλάς", "日本語", "12", "x" * 70, "AND", "or", 'a"b', "NEAR(", "*", "tab\tbed"]


@pytest.fixture(params=["memory", "sqlite", "postgresql"], scope="session")
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Make:
    if request.param == "memory":
        return MemoryTextIndex
    if request.param == "postgresql":
        database: Database = request.getfixturevalue("database")
        return lambda: PostgresTextIndex(database, partial(str, secrets.token_hex(16)))
    return lambda: SqliteTextIndex(tmp_path_factory.mktemp("home") / "texts")


def page(number: int, text: str, *, hidden: bool = False) -> TextBlock:
    return TextBlock(ExtractedText(UnitKind.PAGE, text, [Unit(number, 0, len(text))]), hidden)


def found(index: TextIndex, words: Sequence[str], *, every: bool = True, **versions: str) -> list[tuple[str, str]]:
    return [(name, block.text) for name, block in index.find(words, versions, every=every)]


def test_blocks_are_found_by_all_or_any_of_their_words_in_order(make: Make) -> None:
    index = make()
    assert index.put("b", "1", [page(1, "Total assets\n12"), page(2, "total debt"), page(3, "Assets, in total")])
    assert index.put("a", "1", [page(1, "assets")])

    assert [("b", "Total assets\n12"), ("b", "Assets, in total")] == found(index, ["total", "assets"], b="1")
    assert {"b": "1", "a": "1"} == index.versions(["b", "a", "none"])
    assert [("a", "assets")] == found(index, ["assets", "absent"], every=False, a="1")
    assert [] == found(index, ["assets", "absent"], a="1", b="1")
    assert 4 == len(found(index, [], a="1", b="1"))


def test_only_the_current_version_of_a_resource_is_found(make: Make) -> None:
    index = make()
    index.put("a", "1", [page(1, "old words")])
    index.put("a", "2", [page(1, "new words"), page(2, "more words")])

    assert [] == found(index, ["words"], a="1")
    assert [] == found(index, ["old"], a="2")
    assert [("a", "new words"), ("a", "more words")] == found(index, ["words"], a="2")
    index.drop("a")
    index.drop("never")
    assert ({}, []) == (index.versions(["a"]), found(index, ["words"], a="2"))


def test_a_resource_that_is_dropped_is_not_found_and_the_others_are(make: Make) -> None:
    index = make()
    index.put("a", "1", [page(1, "some words")])
    index.put("b", "1", [page(1, "other words")])

    index.drop("a")
    index.drop("none")

    assert [("b", "other words")] == found(index, ["words"], a="1", b="1")
    assert {"b": "1"} == index.versions(["a", "b"])
    index.drop("b")
    index.put("c", "1", [page(1, "more words")])
    assert [("c", "more words")] == found(index, ["words"], b="1", c="1")


@pytest.mark.long
def test_the_file_becomes_smaller_when_most_of_it_was_dropped(tmp_path: Path) -> None:
    index = SqliteTextIndex(tmp_path)
    generator = Random(1)
    for name in ("a", "b"):
        index.put(name, "1", [page(n, generator.randbytes(40_000).hex()) for n in range(100)])
    index.put("c", "1", [page(1, "some words")])
    index.close()
    before = (tmp_path / "text.db").stat().st_size

    index.drop("a")
    index.drop("b")
    index.close()

    assert (tmp_path / "text.db").stat().st_size < before / 10
    assert [("c", "some words")] == found(index, ["words"], c="1")


def test_a_file_without_text_is_indexed_and_never_found(make: Make) -> None:
    index = make()
    assert index.put("a", "1", [])
    index.put("b", "1", [page(1, "words")])

    assert {"a": "1"} == index.versions(["a"])
    assert [] == found(index, [], a="1")


def test_blocks_keep_their_locations(make: Make) -> None:
    lines = ExtractedText(UnitKind.LINE, "one\ntwo", [Unit(5, 0, 3), Unit(9, 4, 7)])
    chapter = ExtractedText(UnitKind.CHAPTER, "two", [Unit(3, -40, 60)])
    rows = ExtractedText(UnitKind.ROW, "two\tcells", [Unit(12, 0, 9)], [SheetRows("S", 10, 4, 2)])
    cues = Transcript.of([(1.0, 2.5, "one"), (2.5, 4.0, "two")], Modality.VIDEO)
    blocks = [TextBlock(lines), TextBlock(chapter), TextBlock(rows), TextBlock(cues), page(2, "two", hidden=True)]
    index = make()
    index.put("a", "1", blocks)

    got = [block for _, block in index.find(["two"], {"a": "1"})]

    assert blocks == got
    assert [each.located.locate(0, 3) for each in blocks] == [each.located.locate(0, 3) for each in got]


@pytest.mark.long
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), max_size=6),
    asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=2),
    every=st.booleans(),
)
def test_a_block_is_found_if_and_only_if_it_has_the_words(
    make: Make, texts: list[str], asked: list[str], every: bool
) -> None:
    index = make()
    index.put("a", "1", [page(number, text) for number, text in enumerate(texts, 1)])
    wanted = list(dict.fromkeys(words_of(" ".join(asked))))

    has = all if every else any
    expected = [text for text in texts if not wanted or has(word in words_of(text) for word in wanted)]
    assert expected == [text for _, text in found(index, wanted, every=every, a="1")]


@given(
    texts=st.dictionaries(st.sampled_from(["b", "a", "ä", "Z"]), st.lists(st.sampled_from(WORDS), max_size=4)),
    asked=st.lists(st.sampled_from(WORDS), max_size=2),
)
def test_a_search_of_everything_finds_what_the_searches_of_each_resource_find(
    make: Make, texts: dict[str, list[str]], asked: list[str]
) -> None:
    index = make()
    for name, lines in texts.items():
        index.put(name, f"of {name}", [page(number, line) for number, line in enumerate(lines, 1)])
    wanted = list(dict.fromkeys(words_of(" ".join(asked))))

    single = [
        (name, f"of {name}", block.text)
        for name in sorted(texts)
        for _, block in index.find(wanted, {name: f"of {name}"})
    ]
    whole = [(each.resource_id, each.version, each.block.text) for each in index.find_everywhere(wanted)]
    assert single == whole
    assert sorted(whole) == sorted(
        (each.resource_id, each.version, each.block.text) for each in index.find_everywhere(wanted, spread=True)
    )
    assert [min(most, len(whole)) for most in (1, 3, 100)] == [
        index.count_everywhere(wanted, most) for most in (1, 3, 100)
    ]


def test_a_search_of_everything_after_a_resource_in_the_middle_was_replaced(make: Make) -> None:
    index = make()
    for name in ("a", "b", "c"):
        index.put(name, "1", [page(1, f"words of {name}"), page(2, "more words")])
    index.put("b", "2", [])
    index.put("a", "2", [page(1, "new words")])
    index.drop("c")
    index.put("d", "1", [page(1, "last words")])

    assert [("a", "2"), ("d", "1")] == [(each.resource_id, each.version) for each in index.find_everywhere(["words"])]


def test_the_generation_changes_with_every_change_of_a_text(make: Make) -> None:
    index = make()
    seen = [index.generation()]
    for change in (
        lambda: index.put("a", "1", [page(1, "words")]),
        lambda: index.put("a", "1", [page(1, "words")]),
        lambda: index.put("b", "1", []),
        lambda: index.drop("a"),
    ):
        change()
        seen.append(index.generation())
    assert 5 == len(set(seen))
    first = seen[1]
    assert first is not None
    assert [first, first.after(1), first.after(2), first.after(3)] == seen[1:]

    index.drop("none")
    index.note({"b": IndexedText("1", "current")})
    list(index.find_everywhere(["words"]))
    assert seen[-1] == index.generation()


def test_a_note_stays_with_the_version_that_it_was_attached_to(make: Make) -> None:
    index = make()
    index.put("a", "1", [page(1, "words")])
    index.put("b", "1", [page(1, "words")])

    index.note({"a": IndexedText("1", "current"), "b": IndexedText("0", "old"), "c": IndexedText("1", "none")})

    assert {"a": IndexedText("1", "current"), "b": IndexedText("1")} == dict(index.texts())
    assert [("a", "words"), ("b", "words")] == found(index, ["words"], a="1", b="1")
    index.put("a", "1", [page(1, "words")])
    assert IndexedText("1") == index.texts()["a"]
    index.drop("a")
    assert ["b"] == list(index.texts())


def test_blocks_with_more_words_than_a_full_text_index_takes_are_found(make: Make) -> None:
    index = make()
    many = " ".join(f"{number:x}é{number:054d}" for number in range(18_000))
    index.put("a", "1", [page(1, "needle in a small block"), page(2, f"needle {many}"), page(3, many)])
    index.put("b", "1", [page(1, "no such thing")])

    assert ["needle in", "needle 0é"] == [text[:9] for _, text in found(index, ["needle"], a="1", b="1")]
    assert 2 == index.count_everywhere(["needle"], 10)
    for spread in (False, True):
        assert {("a", 0), ("a", 1)} == {(e.resource_id, e.at) for e in index.find_everywhere(["needle"], spread=spread)}


def test_names_and_texts_may_have_half_surrogate_pairs(make: Make) -> None:
    index = make()
    index.put("a", "1", [page(1, "half \ud800 pair")])
    index.put("\ud800", "1", [page(1, "word")])

    assert [("a", "half \ud800 pair")] == found(index, ["pair"], a="1")
    assert [] == list(index.versions(["\udfff"]))


def test_text_from_another_home_is_not_found(tmp_path: Path) -> None:
    ours = SqliteTextIndex(tmp_path / "ours")
    ours.put("a", "1", [page(1, "true words")])
    ours.close()
    (tmp_path / "theirs").mkdir()
    for path in (tmp_path / "ours").iterdir():
        (tmp_path / "theirs" / path.name).write_bytes(path.read_bytes())

    theirs = SqliteTextIndex(tmp_path / "theirs")
    assert [] == list(theirs.find_everywhere(["words"]))

    assert ({}, []) == (theirs.versions(["a"]), found(theirs, ["words"], a="1"))
    theirs.put("a", "1", [page(1, "new words")])
    assert [("a", "new words")] == found(theirs, ["words"], a="1")


def test_an_edited_block_is_not_found_and_is_stored_again(tmp_path: Path) -> None:
    import sqlite3

    index = SqliteTextIndex(tmp_path)
    index.put("a", "1", [page(1, "true words"), page(2, "other words")])
    with sqlite3.connect(tmp_path / "text.db") as connection:
        (data,) = connection.execute("SELECT data FROM block WHERE number = 1").fetchone()
        connection.execute("UPDATE block SET data = ? WHERE number = 0", (data,))
    connection.close()

    assert [("a", "other words")] == found(index, ["words"], a="1")
    index.put("a", "1", [page(1, "true words")])
    assert [("a", "true words")] == found(index, ["words"], a="1")


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE text SET note = 'current'",
        "UPDATE text SET version = x'00'",
        "UPDATE text SET first = 'zz'",
        "UPDATE text SET blocks = 0.5",
        "UPDATE block SET data = 'abc'",
        "UPDATE block SET code = x'00'",
        "UPDATE text SET first = 7",
    ],
)
@pytest.mark.parametrize("everywhere", [False, True])
def test_what_this_home_did_not_store_counts_as_not_indexed_after_a_search(
    tmp_path: Path, forgery: str, everywhere: bool
) -> None:
    import sqlite3

    index = SqliteTextIndex(tmp_path)
    index.put("a", "1", [page(1, "true words")])
    connection = sqlite3.connect(tmp_path / "text.db")
    with connection:
        connection.execute(forgery)
    connection.close()

    assert [] == (list(index.find_everywhere(["words"])) if everywhere else found(index, ["words"], a="1"))
    assert {} == index.versions(["a"])
    assert {} == index.texts()
    assert index.put("a", "1", [page(1, "true words")])
    assert [("a", "true words")] == found(index, ["words"], a="1")


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    index = SqliteTextIndex(tmp_path)
    index.put("a", "1", [page(1, "words")])
    index.close()
    for path in tmp_path.glob("text.db*"):
        path.write_bytes(b"no database" * 1000)

    assert {} == SqliteTextIndex(tmp_path).versions(["a"])
    assert SqliteTextIndex(tmp_path).put("a", "1", [page(1, "words")])


def test_blocks_are_read_by_number_and_in_order(make: Make) -> None:
    index = make()
    blocks = [page(number, f"words of page {number}") for number in range(1, 6)]
    index.put("b", "1", [page(1, "other")])
    index.put("a", "1", blocks)

    assert (5, 0, 0) == (index.size("a", "1"), index.size("a", "2"), index.size("none", "1"))
    assert [(1, blocks[1]), (2, blocks[2])] == list(index.blocks("a", "1", range(1, 3)).items())
    assert [(0, blocks[0]), (3, blocks[3])] == list(index.blocks("a", "1", [3, 0, 3]).items())
    assert {4: blocks[4]} == index.blocks("a", "1", range(4, 9))
    assert {} == index.blocks("a", "1", range(5, 9)) == index.blocks("a", "1", [-1])
    assert {} == index.blocks("a", "1", []) == index.blocks("a", "2", range(5))


def test_an_edited_block_is_not_read(tmp_path: Path) -> None:
    import sqlite3

    index = SqliteTextIndex(tmp_path)
    index.put("a", "1", [page(1, "true words"), page(2, "other words")])
    with sqlite3.connect(tmp_path / "text.db") as connection:
        (data,) = connection.execute("SELECT data FROM block WHERE number = 1").fetchone()
        connection.execute("UPDATE block SET data = ? WHERE number = 0", (data,))
    connection.close()

    assert {} == index.blocks("a", "1", [0])
    assert {} == index.versions(["a"])


def test_a_damaged_block_in_a_database_is_not_found_and_its_text_is_stored_again(database: Database) -> None:
    index = PostgresTextIndex(database, lambda: "damaged")
    index.put("a", "1", [page(1, "true words"), page(2, "other words")])
    index.put("b", "1", [page(1, "more words")])
    space = index._space
    database.run(
        lambda connection: connection.execute(
            "UPDATE citekit_block SET data = 'abc' WHERE space = %s AND resource = 'a' AND at = 0", (space,)
        )
    )

    assert {} == index.blocks("a", "1", [0])
    assert {"b": "1"} == index.versions(["a", "b"])
    assert [("b", "more words")] == found(index, ["words"], a="1", b="1")
