"""Starting: quick, and with true words about what there is."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from citekit.entrypoints.cli.program import COMMANDS, PROGRAM
from tests.cli.program import Cli, plain_environment
from tests.cli.remembering import remember

ROOT = Path(__file__).parents[2]
DRIVERS = {"pymupdf", "av", "PIL", "numpy", "lxml", "selectolax", "tree_sitter", "charset_normalizer", "qdrant_edge"}
SERVICES = {"google", "openai", "httpx", "qdrant_client", "onnxruntime", "tokenizers", "wordllama"}
HEAVY = DRIVERS | SERVICES | {"mcp", "mcp_types", "pydantic", "anyio", "rich"}
VALUES = {"attr", "attrs", "cattr", "cattrs"}


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A folder whose map and source are remembered."""
    cli = Cli(tmp_path_factory.mktemp("remembered"))
    path = cli.write("code.py")
    assert cli("ingest", "code.py").code == 0
    remember(cli.here, path)
    assert cli("list").code == 0
    return cli


@pytest.mark.parametrize("module", ["citekit", "citekit.cli"])
def test_every_way_to_start_it_shows_every_command(cli: Cli, module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True)

    assert [name for name in COMMANDS if f"\n  {name} " not in done.stdout] == []


def imported(trace: str) -> set[str]:
    """The top-level modules in what `-X importtime` wrote."""
    names = (line.rpartition("|")[2].strip() for line in trace.splitlines() if line.startswith("import time:"))
    return {name.partition(".")[0] for name in names}


def imported_by(cli: Cli, *arguments: str) -> set[str]:
    """The top-level modules that the real program imports for that command."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "citekit", *arguments],
        cwd=cli.here,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return imported(done.stderr)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list", "--help"], ["serve", "--help"]])
def test_help_loads_click_and_no_driver_nor_use_case(cli: Cli, arguments: list[str]) -> None:
    loaded = imported_by(cli, *arguments)

    assert "click" in loaded
    assert loaded & (HEAVY | VALUES | {"sqlite3"}) == set()


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_listing_of_known_maps_loads_neither_values_nor_paths_nor_drivers(remembered: Cli, form: list[str]) -> None:
    loaded = imported_by(remembered, "list", *form)

    assert loaded & (HEAVY | VALUES | {"pathlib"}) == set()


@pytest.mark.parametrize("arguments", [["structure", "code_py"], ["list", "code_py"], ["inspect", "code_py", "first"]])
def test_reading_maps_loads_no_driver_and_nothing_that_explains_faults(mapped: Cli, arguments: list[str]) -> None:
    loaded = imported_by(mapped, *arguments)

    assert loaded & (HEAVY | {"cattr", "cattrs"}) == set()


@pytest.mark.long
def test_a_server_that_has_answered_has_loaded_no_driver(mapped: Cli) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}

    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "citekit", "serve"],
        cwd=mapped.here,
        env=plain_environment(),
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "citekit"
    assert imported(done.stderr) & (DRIVERS | {"cattr", "cattrs", "rich", "google", "openai"}) == set()


def test_a_program_that_ends_has_closed_its_databases(cli: Cli) -> None:
    cli.write("code.py")
    for arguments in (["ingest", "code.py"], ["list"], ["structure", "code_py"], ["resolve", "code_py", "first"]):
        assert cli(*arguments).code == 0

        assert {path for path in cli.everything() if path.endswith("-wal")} == set()


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

    assert f"citekit {version('citekit-evidence')}\n" == cli("--version").out


def test_help_and_lists_leave_nothing_behind(cli: Cli) -> None:
    for arguments in (["--help"], ["list"], ["cache", "stats"], ["search", "word"]):
        assert cli(*arguments).code == 0

    assert cli.everything() == set()
