"""`citekit outline`."""

from __future__ import annotations

import json

from tests.cli.program import Cli


def test_the_outline_goes_to_standard_output(mapped: Cli) -> None:
    answer = mapped("outline")

    assert 0 == answer.code
    assert "- **Second.third**: third <text://code_py#lines=9-10>" in answer.out.replace("  - ", "- ")


def test_a_budget_is_kept_and_said(mapped: Cli) -> None:
    answer = mapped("outline", "code_py", "--budget", "45")

    assert len(answer.out.rstrip("\n")) <= 45 * 4
    assert "more nodes were left out to fit the budget.)" in answer.out


def test_json_is_one_document_in_both_ways(mapped: Cli) -> None:
    by_format = json.loads(mapped("outline", "--format", "json").out)
    document = mapped.json("outline", "--format", "json")

    assert by_format == json.loads(document["context"])
    assert ("json", 0) == (document["format"], document["left_out"])


def test_a_budget_that_holds_no_titles_is_refused(mapped: Cli) -> None:
    answer = mapped("outline", "--budget", "2")

    assert (2, "") == (answer.code, answer.out)
    assert "The titles of the resources alone need" in answer.err


def test_an_unknown_resource_is_refused(mapped: Cli) -> None:
    assert 1 == mapped("outline", "none").code
