"""Starting: quick, and with true words about what there is."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import click
import pytest

from citekit.entrypoints.cli.program import COMMANDS, PROGRAM
from tests.cli.program import Cli, plain_environment

ROOT = Path(__file__).parents[2]
HEAVY = {"pymupdf", "av", "PIL", "numpy", "lxml", "mcp", "rich", "diskcache", "tree_sitter", "charset_normalizer"}


def modules_after(cli: Cli, *arguments: str) -> set[str]:
    """The top-level modules that are loaded when the command has run."""
    script = (
        "import sys; from citekit.entrypoints.cli.program import run; run(sys.argv[1:]); print('\\0', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=cli.here,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in done.stdout.partition("\0")[2].split()}


@pytest.mark.parametrize("module", ["citekit", "citekit.cli"])
def test_every_way_to_start_it_shows_every_command(cli: Cli, module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True)

    assert [name for name in COMMANDS if f"\n  {name} " not in done.stdout] == []


def test_help_loads_click_and_no_driver_nor_use_case(cli: Cli) -> None:
    loaded = modules_after(cli, "--help")

    assert loaded & (HEAVY | {"attrs", "cattrs"}) == set()


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [(["structure", "code_py"], set()), (["list", "code_py"], set()), (["list"], {"diskcache"})],
)
def test_reading_maps_loads_no_driver(mapped: Cli, arguments: list[str], needed: set[str]) -> None:
    loaded = modules_after(mapped, *arguments)

    assert loaded & HEAVY == needed


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_command_s_own(name: str) -> None:
    command = PROGRAM.get_command(click.Context(PROGRAM), name)

    assert command is not None
    assert COMMANDS[name][1] == (command.help or "").partition("\n")[0]


def test_the_reference_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("generate_cli", ROOT / "docs" / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)

    assert generator.page() == generator.PAGE.read_text("utf-8"), "run: make docs"


def test_the_shell_completes_commands(cli: Cli) -> None:
    answer = cli(_CITEKIT_COMPLETE="bash_complete", COMP_WORDS="citekit in", COMP_CWORD="1")

    assert ["plain,ingest", "plain,inspect"] == answer.out.split()


def test_the_version_is_that_of_the_package(cli: Cli) -> None:
    from importlib.metadata import version

    assert f"citekit {version('citekit')}\n" == cli("--version").out


def test_help_and_lists_leave_nothing_behind(cli: Cli) -> None:
    for arguments in (["--help"], ["list"], ["cache", "stats"], ["search", "word"]):
        assert cli(*arguments).code == 0

    assert cli.everything() == set()
