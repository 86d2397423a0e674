"""`citekit find`."""

from __future__ import annotations

import pytest

from tests.cli.program import Cli


def test_the_lines_are_shown_below_their_address(mapped: Cli) -> None:
    answer = mapped("find", "return")

    assert (0, "") == (answer.code, answer.err)
    assert [
        "2 matches",
        "text://code_py#lines=3  first",
        "  > return 1",
        "text://code_py#lines=10  Second > third",
        "  > return 2",
    ] == [line.rstrip() for line in answer.out.splitlines()]


def test_the_answer_is_one_json_document(mapped: Cli) -> None:
    answer = mapped("--json", "find", "--regex", "return [2-9]", "-res", "code_py").document

    assert ("return [2-9]", 1, 1) == (answer["query"], answer["total"], answer["searched"])
    assert ["text://code_py#lines=10"] == [hit["address"] for hit in answer["hits"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("...",), "no letters or digits"),
        (("--regex", "(?<=a)b"), "not supported"),
        (("word", "--resource", "code_pi"), "code_py"),
        (("x" * 2000,), "at most 1,000"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(mapped: Cli, arguments: tuple[str, ...], message: str) -> None:
    answer = mapped("find", *arguments)

    assert 0 != answer.code
    assert message in answer.err
    assert 1 == len(answer.err.strip().splitlines())


def test_nothing_found_is_no_error_and_names_the_missing_word(mapped: Cli) -> None:
    answer = mapped("find", "return", '"zeppelin"')

    assert (0, ["0 matches", "Not in the searched text: zeppelin"]) == (answer.code, answer.out.splitlines())


def test_without_a_place_for_all_words_the_best_places_are_shown(mapped: Cli) -> None:
    answer = mapped("find", "return", "zeppelin")

    assert "Nothing matches the whole query. These are the best partial matches:" == answer.out.splitlines()[0]
    assert "  > return 1" in answer.out.splitlines()


def test_titles_that_are_not_headings_of_the_text_come_first(mapped: Cli) -> None:
    answer = mapped("find", "second")

    assert [
        "1 title",
        "text://code_py#lines=6-10  Second",
        "1 match",
    ] == answer.out.splitlines()[:3]


def test_only_titles_are_searched_on_request(mapped: Cli) -> None:
    found = mapped.json("find", "--titles", "follows")

    assert ["text://code_py#lines=6-10"] == [each["address"] for each in found["titles"]]
    assert "hits" not in found
    assert "code_py" in mapped("find", "--titles", "follows").out
    assert "cannot be combined" in mapped("find", "--titles", "--regex", "follows").err


@pytest.mark.parametrize("name", ["code_py", "code.py", "text://code_py"])
def test_the_name_of_a_resource_after_the_words_is_no_word(mapped: Cli, name: str) -> None:
    answer = mapped("find", "return", name)

    assert "text://code_py#lines=3  first" in answer.out.splitlines()
    assert ("return", 2) == (mapped.json("find", "return", name)["query"], mapped.json("find", "return", name)["total"])
    assert "Searching only in code_py." in answer.err
    assert 1 == len(answer.err.strip().splitlines())


def test_a_name_that_may_be_a_word_is_one_and_the_option_is_named(cli: Cli) -> None:
    cli.write("code.py")
    cli("ingest", "code.py", "--id", "code")
    answer = cli("find", "return", "code")

    assert "Nothing matches the whole query. These are the best partial matches:" == answer.out.splitlines()[0]
    assert "replace the last word with --resource code." in answer.err
    assert "0 matches" in cli("find", "return", '"code.py"').out
