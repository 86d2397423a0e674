"""`citekit read`."""

from __future__ import annotations

import pytest

from tests.cli.program import Cli


def test_the_text_is_shown_below_its_address(mapped: Cli) -> None:
    answer = mapped("read", "code_py", "lines=2-3")

    assert (0, "") == (answer.code, answer.err)
    assert ["text://code_py#lines=2-3  first", "  [line 2]"] == [line.rstrip() for line in answer.out.splitlines()][:2]
    assert "      return 1" in answer.out.splitlines()


def test_the_answer_is_one_json_document_and_continues(mapped: Cli) -> None:
    whole = mapped("--json", "read", "code_py").document

    assert {"address", "node_id", "titles", "text", "total_chars"} == set(whole)
    assert whole == mapped("--json", "read", "text://code_py").document


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("code_pi",), "code_py"),
        (("code_py", "secnd"), "Second"),
        (("code_py", "lines=999"), "beyond the end"),
        (("code_py", "--cursor", "x"), "without a cursor"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(mapped: Cli, arguments: tuple[str, ...], message: str) -> None:
    answer = mapped("read", *arguments)

    assert 0 != answer.code
    assert message in answer.err
    assert 1 == len(answer.err.strip().splitlines())
