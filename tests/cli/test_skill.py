"""`citekit skill`."""

from __future__ import annotations

from pathlib import Path

import click

from citekit.entrypoints.cli.program import COMMANDS, PROGRAM
from citekit.entrypoints.cli.skill import SKILL
from tests.cli.program import Cli


def test_the_skill_is_printed_with_a_short_description(mapped: Cli) -> None:
    answer = mapped("skill")

    assert (0, "", SKILL) == (answer.code, answer.err, answer.out)
    front_matter = SKILL.split("---")[1]
    assert front_matter.startswith("\nname: citekit\ndescription: ")
    assert len(front_matter) / 4 < 150  # about four characters a token
    assert {"skill": SKILL} == mapped("--json", "skill").document


def test_every_command_and_option_in_the_skill_exists() -> None:
    for code in SKILL.split("`")[1::2]:
        words = code.split()
        if words[:1] == ["citekit"] and len(words) > 1:
            assert words[1] in COMMANDS
            command = PROGRAM.get_command(click.Context(PROGRAM), words[1])
            assert command is not None
            known = {option for each in command.params for option in each.opts}
            assert known >= {word.strip("[]") for word in words if word.startswith(("--", "[--"))}


def test_the_skill_is_installed_and_not_overwritten(mapped: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    path = folder / "citekit" / "SKILL.md"

    assert 0 == mapped("skill", "--install", str(folder)).code
    assert SKILL == path.read_text()
    path.write_text("mine")
    refused = mapped("skill", "--install", str(folder))
    assert 0 != refused.code
    assert "--force" in refused.err
    assert "mine" == path.read_text()
    assert 0 == mapped("skill", "--install", str(folder), "--force").code
    assert SKILL == path.read_text()


def test_a_link_is_replaced_and_not_followed(mapped: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "citekit").mkdir()
    (tmp_path / "citekit" / "SKILL.md").symlink_to(other)

    assert 0 == mapped("skill", "--install", str(tmp_path), "--force").code
    assert "mine" == other.read_text()


def test_a_folder_that_cannot_be_written_is_one_sentence(mapped: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    answer = mapped("skill", "--install", str(tmp_path / "file"))

    assert 0 != answer.code
    assert "To use another folder, run: citekit skill --install DIR" in answer.err
    assert 1 == len(answer.err.strip().splitlines())
