"""`citekit query`: a question, the places that answer it, and the best of them cut out."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pypdfium2
import pytest

from citekit.entrypoints.cli.library.text_wrapping import clipped, folded
from tests.cli.shelf import Shelf


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """A library whose first three books are ingested; tests only read there."""
    shelf = Shelf.made(tmp_path_factory.mktemp("asked"))
    assert 0 == shelf("library", "ingest", "1", "2", "3", "--min-words", "40", "--max-words", "120").code
    return shelf


def test_the_best_hit_is_shown_with_its_book_its_place_and_its_address(shelf: Shelf) -> None:
    lines = shelf("query", "how", "do", "workers", "gather", "nectar?", "-n", "1").out.splitlines()

    assert lines[0].startswith("1. Bees and Volcanoes, Ada Writer & Bo Author: Bees, ch. 1, chars ")
    assert "gather nectar" in " ".join(lines[1:3])
    assert any(line.strip().startswith("doc://") and "#chapter=1&chars=" in line for line in lines)
    assert lines[-1].startswith("1 hit in ")


@pytest.mark.parametrize(
    ("question", "word"), [("compression of an arch bridge", "abutments"), ("bakers knead flour", "yeast")]
)
def test_the_opened_page_holds_the_passage(shelf: Shelf, question: str, word: str) -> None:
    answer = shelf.json("query", "--open", question, "--author", "plain")

    with pypdfium2.PdfDocument(answer["opened"]["output_path"]) as opened:
        text = " ".join(page.get_textpage().get_text_range() for page in opened)
    passage = " ".join(answer["results"][0]["passage"]["text"].split())
    assert word in passage
    assert passage in " ".join(text.split())
    assert answer["opened"]["address"] == answer["results"][0]["address"]


def test_the_opened_chapter_holds_the_passage_and_a_person_is_told_where_it_is(shelf: Shelf) -> None:
    answer = shelf("query", "--open", "magma and ash")

    opened = Path(answer.out.splitlines()[0])
    assert (0, "") == (answer.code, answer.err)
    text = zipfile.ZipFile(opened).read if zipfile.is_zipfile(opened) else None
    whole = (
        opened.read_text("utf-8")
        if text is None
        else " ".join(
            text(name).decode("utf-8") for name in zipfile.ZipFile(opened).namelist() if name.endswith("html")
        )
    )
    assert "erupts lava" in " ".join(whole.split())


def test_an_address_of_an_answer_can_be_resolved(shelf: Shelf) -> None:
    best = shelf.json("query", "nectar and pollen")["results"][0]

    cut = shelf.json("resolve", best["passage"]["address"])

    assert best["passage"]["address"] == cut["address"]


def test_a_question_in_chinese_finds_the_chinese_book(shelf: Shelf) -> None:
    answer = shelf("query", "月光", "--language", "zho")

    assert "狂人日记, 鲁迅" in answer.out
    assert "很好的月光" in answer.out


@pytest.mark.parametrize(
    ("narrowing", "title"), [(("--tag", "fire"), "Bees and Volcanoes"), (("--title", "bread"), "Bridges, Bread")]
)
def test_only_some_of_the_books_are_asked(shelf: Shelf, narrowing: tuple[str, ...], title: str) -> None:
    found = shelf.json("query", "remark", "--threshold", "0", *narrowing)["results"]

    assert {title} == {hit["book_title"] for hit in found}


def test_context_shows_the_chapter_beside_the_hit(shelf: Shelf) -> None:
    document = shelf.json("query", "nectar and pollen", "--context", "contextual", "-n", "1")

    assert "contextual" == document["context_mode"]
    assert "Bees" == document["parent_chunks"][0]["section_name"]


@pytest.mark.long
def test_a_guardian_and_a_pattern_say_how_to_answer(shelf: Shelf) -> None:
    document = shelf.json("query", "nectar", "--guardian", "zec", "--pattern", "tldr")
    unknown = shelf("query", "nectar", "--guardian", "nobody", "--pattern", "nothing")

    assert ("zec", "tldr") == (document["guardian"], document["response_pattern"])
    assert document["response_instruction"]
    assert 0 == unknown.code
    guardian, pattern, patterns, guardians = unknown.err.splitlines()
    assert ("nobody" in guardian, "nothing" in pattern) == (True, True)
    assert ("tldr" in patterns, "zec" in guardians) == (True, True)


@pytest.mark.long
def test_results_below_the_threshold_are_marked_as_weak(shelf: Shelf) -> None:
    answer = shelf("query", "nectar", "--threshold", "1")

    assert 0 == answer.code
    assert 2 == answer.out.count("(weak: below the threshold)")


@pytest.mark.parametrize(
    ("arguments", "variables", "code", "said"),
    [
        (("",), {}, 2, "The question is empty"),
        ((" ", "\t"), {}, 2, "The question is empty"),
        ((), {}, 2, "Missing argument 'QUESTION'."),
        (("bees", "--threshold", "2"), {}, 2, "2.0 is not in the range"),
        (("bees", "--limit", "99"), {}, 2, "99 is not in the range"),
        (("bees", "--context", "some"), {}, 2, "'some' is not one of"),
        (("bees", "--collection", "a/b"), {}, 2, "'a/b' is not a valid name for a collection"),
        (("bees", "--collection", "other"), {}, 1, "There is no collection 'other'"),
        (("bees", "--author", "nobody"), {}, 2, "No book in the collection 'alexandria' meets all given criteria"),
        (("bees",), {"CITEKIT_EMBEDDER": "nonsense"}, 2, "There is no embedder named 'nonsense'"),
        (("bees",), {"CITEKIT_EMBEDDER": "hashing"}, 1, "citekit library rebuild"),
        (
            ("bees",),
            {"QDRANT_URL": "http://127.0.0.1:9"},
            1,
            "The Qdrant server at http://127.0.0.1:9 cannot be reached",
        ),
    ],
)
def test_a_question_that_cannot_be_asked_ends_in_one_sentence(
    shelf: Shelf, arguments: tuple[str, ...], variables: dict[str, str], code: int, said: str
) -> None:
    answer = shelf("--json", "query", *arguments, **variables)

    message = answer.document["error"]["message"]
    assert (code, f"Error: {message}\n") == (answer.code, answer.err)
    assert said in message


@pytest.mark.long
def test_a_damaged_index_says_how_to_make_it_anew(tmp_path: Path) -> None:
    shelf = Shelf.made(tmp_path)
    assert 0 == shelf("library", "ingest", "1").code
    (shelf.cli.here / ".citekit_library" / "index" / "alexandria" / "collection.json").write_bytes(b"\0")

    code, said = shelf.fails("query", "bees")
    done = shelf.json("library", "rebuild")

    assert (1, True) == (code, "citekit library rebuild" in said)
    assert 1 == done["books"]
    assert shelf.json("query", "nectar and pollen")["results"]


def test_long_text_is_folded_by_columns_and_cut() -> None:
    assert ["月光月光月", "光 moon", "and lig..."] == folded("月光月光月光 moon and light over it all", 10, 3)
    assert ["abcdefghij", "klm"] == folded("abcdefghijklm", 10, 3)
    assert ["all"] == folded("  all\n", 10, 1)
    assert [] == folded("", 10, 1)
    assert ("月光...", "moon", "moonli...") == (
        clipped("月光月光月光", 8),
        clipped("moon", 8),
        clipped("moonlights!", 9),
    )
