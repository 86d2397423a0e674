"""`citekit verify-quote`."""

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
        "    return 1",
    ] == found.out.splitlines()
    assert (1, "Error: The quote is not in text://code_py#lines=1, but at text://code_py#lines=3.\n") == (
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
