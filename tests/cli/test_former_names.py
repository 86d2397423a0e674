"""Former names of commands, options, and values work, and a note on standard error says the new name once."""

from __future__ import annotations

import pytest

from tests.cli.program import Cli


@pytest.mark.parametrize(
    ("former", "new", "arguments"),
    [
        ("check-map", "validate", ["code_py"]),
        ("editions", "versions", ["code_py"]),
        ("context", "outline", ["code_py"]),
        ("search", "find --titles", ["second"]),
    ],
)
def test_a_former_command_gives_the_same_answer_and_says_its_new_name_once(
    mapped: Cli, former: str, new: str, arguments: list[str]
) -> None:
    before, after = mapped(former, *arguments), mapped(*new.split(), *arguments)

    assert (before.code, before.out) == (after.code, after.out) == (0, after.out)
    assert f"Note: '{former}' is now called '{new}'.\n" == before.err
    assert "" == after.err


def test_adapt_stays_another_name_of_import(cli: Cli) -> None:
    before, after = cli("adapt", "--help"), cli("import", "--help")

    assert (0, "") == (before.code, before.err)
    assert after.out == before.out.replace("Usage: citekit adapt ", "Usage: citekit import ")


def test_former_commands_are_not_listed(cli: Cli) -> None:
    shown = cli("--help").out

    assert [] == [
        name for name in ("check-map", "editions", "context", "search", "verify-quote") if f"\n  {name} " in shown
    ]


@pytest.mark.parametrize(("former", "new"), [("apart", "subprocess"), ("here", "inline")])
def test_a_former_value_of_parsers_says_its_new_name_once(cli: Cli, former: str, new: str) -> None:
    told = cli("list", CITEKIT_PARSERS=former)

    assert 1 == told.err.count(f"The value '{former}' of CITEKIT_PARSERS is now called '{new}'.")
    assert "is now called" not in cli("list", CITEKIT_PARSERS=new).err
