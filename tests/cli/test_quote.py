"""`citekit quote`, and its other name `verify-quote`."""

from __future__ import annotations

import json

import pytest

from tests.cli.program import Cli


@pytest.mark.parametrize(
    ("arguments", "code", "finding", "where"),
    [
        (("code_py", "return 1"), 0, "exact", "text://code_py#lines=3"),
        (("text://code_py", "RETURN  1"), 0, "normalised", "text://code_py#lines=3"),
        (("text://code_py#lines=1-4", "return 1"), 0, "exact", "text://code_py#lines=3"),
        (("code_py", "Second", "return 2"), 0, "exact", "text://code_py#lines=10"),
        (("code_py.Second", "return 2"), 0, "exact", "text://code_py#lines=10"),
        (("code_py", "Second", "return 1"), 1, "elsewhere", "text://code_py#lines=3"),
        (("text://code_py#lines=1-2", "return 1"), 1, "elsewhere", "text://code_py#lines=3"),
        (("code_py", "return 3"), 1, "absent", None),
    ],
)
def test_a_quote_is_there_or_not(
    mapped: Cli, arguments: tuple[str, ...], code: int, finding: str, where: str | None
) -> None:
    answer = mapped("--json", "verify-quote", *arguments)

    told = json.loads(answer.out)
    assert (code, finding, code == 0) == (answer.code, told["finding"], told["holds"])
    assert [where] * (where is not None) == [each["address"] for each in told["places"]]


def test_a_person_is_told_where_and_what_differs(mapped: Cli) -> None:
    found = mapped("verify-quote", "code_py", "Return   1")
    elsewhere = mapped("verify-quote", "text://code_py#lines=1", "return 1")

    assert [
        "normalised",
        "  text://code_py#lines=3  differs in white space, case",
        "  > return 1",
    ] == found.out.splitlines()
    assert (1, "Error: The quote is not in text://code_py#lines=1, but it is at text://code_py#lines=3.\n") == (
        elsewhere.code,
        elsewhere.err,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("code_py",), 2, "Give a location and a quote"),
        (("code_py", ""), 2, "The quote is empty"),
        (("code_py", "..."), 2, "no letters or digits"),
        (("doc://code_py", "return"), 2, "addresses of 'code_py' begin with text://"),
        (("nothing", "return"), 1, "No map found for resource 'nothing'"),
        (("text://code_py#lines=99", "return"), 1, "beyond the end"),
        (("code_py", "nobody", "return"), 1, "Node 'nobody' not found"),
    ],
)
def test_what_cannot_be_asked_is_refused(mapped: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    answer = mapped("verify-quote", *arguments)

    assert (code, True) == (answer.code, said in answer.err)


@pytest.mark.parametrize(
    ("arguments", "code", "findings", "addresses"),
    [
        (("return 1",), 0, ["exact"], ["text://code_py#lines=3"]),
        (("code_py", "return 1", "return 2"), 0, ["exact"] * 2, ["text://code_py#lines=3", "text://code_py#lines=10"]),
        (("--resource", "code_py", "return 1"), 0, ["exact"], ["text://code_py#lines=3"]),
        (("--resource", "code_py", "code_py"), 1, ["absent"], []),
        (("code_py", "Second", "return 2"), 0, ["exact"], ["text://code_py#lines=10"]),
        (("code_py", "Second", "return 1"), 1, ["elsewhere"], ["text://code_py#lines=3"]),
        (("code_py#lines=1-4", "return 1"), 0, ["exact"], ["text://code_py#lines=3"]),
        (
            ("text://code_py#lines=3", "return 1", "text://code_py#lines=10", "return 2", "return 1"),
            1,
            ["exact", "exact", "elsewhere"],
            ["text://code_py#lines=3", "text://code_py#lines=10", "text://code_py#lines=3"],
        ),
        (("return 3",), 1, ["absent"], []),
    ],
)
def test_quotes_are_checked_in_the_location_before_them_or_in_everything(
    mapped: Cli, arguments: tuple[str, ...], code: int, findings: list[str], addresses: list[str]
) -> None:
    answer = mapped("--json", "quote", *arguments)

    found = answer.document
    verdicts = found.get("verdicts", [found])
    assert (code, findings) == (answer.code, [each["finding"] for each in verdicts])
    assert addresses == [place["address"] for each in verdicts for place in each["places"]]


def test_several_quotes_are_numbered_and_the_error_counts_those_that_fail(mapped: Cli) -> None:
    answer = mapped("quote", "return 1", "return 3", "text://code_py#lines=99", "return 2")

    assert [
        "1. exact",
        "  text://code_py#lines=3  exact",
        "  > return 1",
        "2. absent",
    ] == answer.out.splitlines()[:4]
    assert "3. error: " in answer.out
    assert (1, "Error: 2 of 3 quotes cannot be cited as given: quotes 2 and 3.\n") == (answer.code, answer.err)


def test_a_quote_that_is_nowhere_says_how_much_was_searched(mapped: Cli) -> None:
    absent, nothing_mapped = mapped("quote", "zeppelin"), mapped("quote", "zeppelin", "--home", "empty")

    assert (1, "Error: The quote was not found in the 1 file searched.\n") == (absent.code, absent.err)
    assert (1, "Error: No files are mapped in this home. To search another one, add --home DIR.\n") == (
        nothing_mapped.code,
        nothing_mapped.err,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("text://code_py#lines=3",), 2, "Give a quote after the location"),
        (("return 1", "text://code_py#lines=3"), 2, "Give a quote after the location"),
        (("text://code_py#lines=1", "text://code_py#lines=3", "return 1"), 2, "Give a quote after the location"),
        (("code_py", "text://code_py#lines=3", "return 1"), 2, "Give a quote after the location"),
        (("--resource", "nothing", "return 1"), 1, "No map found for resource 'nothing'"),
        (("--resource", "code_py", "text://other#lines=1", "return"), 2, "belongs to the resource 'other'"),
        (("doc://code_py", "return"), 2, "addresses of 'code_py' begin with text://"),
        (("...",), 2, "no letters or digits"),
    ],
)
def test_a_faulty_request_is_refused_in_one_sentence(
    mapped: Cli, arguments: tuple[str, ...], code: int, message: str
) -> None:
    answer = mapped("quote", *arguments)

    assert (code, True) == (answer.code, message in answer.err), answer.err
    assert 1 == len(answer.err.strip().splitlines())
