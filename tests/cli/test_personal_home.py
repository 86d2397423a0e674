"""The home that a command uses: the named one, the current folder, or the personal home of the user."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from citekit.domain.errors import RequestRefused
from citekit.settings.places import home_named, home_of_commands, personal_home
from tests.cli.program import Cli, plain_environment
from tests.mcp.server_process import Wire

OTHER = "def elsewhere():\n    return 7\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a personal home in which `personal.py` is mapped."""
    folder = tmp_path_factory.mktemp("data")
    cli = Cli(tmp_path_factory.mktemp("somewhere"))
    cli.write("personal.py")
    made = cli("ingest", "personal.py", "--home", "@personal", XDG_DATA_HOME=str(folder))
    assert (0, False) == (made.code, "personal home" in made.err)
    assert (folder / "citekit" / ".resource_maps" / "personal_py.json").is_file()
    assert {"personal.py"} == cli.everything()
    return folder


def listed(cli: Cli, *arguments: str, **environment: str) -> list[str]:
    """The IDs of the mapped resources."""
    return [each["resource_id"] for each in cli("list", "--json", *arguments, **environment).document["resources"]]


@pytest.mark.long
def test_a_folder_without_a_home_uses_the_personal_home(cli: Cli, data: Path) -> None:
    environment = {"XDG_DATA_HOME": str(data)}

    assert ["personal_py"] == listed(cli, **environment)
    assert "text://personal_py#lines=3" in cli("find", "return 1", **environment).out
    assert 0 == cli("quote", "return 1", **environment).code
    assert "return 1" in cli("read", "personal_py", "lines=3", **environment).out
    assert set() == cli.everything()


@pytest.mark.long
def test_a_folder_with_a_home_uses_its_own(cli: Cli, data: Path) -> None:
    cli.write("own.py", OTHER)
    made = cli("ingest", "own.py", "--home", ".")

    assert (0, False) == (made.code, "personal home" in made.err)
    assert ["own_py"] == listed(cli, XDG_DATA_HOME=str(data))
    assert ["personal_py"] == listed(cli, "--home", "@personal", XDG_DATA_HOME=str(data))
    assert ["personal_py"] == listed(cli, XDG_DATA_HOME=str(data), CITEKIT_HOME="@personal")
    assert [] == listed(cli, XDG_DATA_HOME=str(data), CITEKIT_HOME=str(cli.here / "third"))


@pytest.mark.long
def test_without_a_personal_home_the_current_folder_becomes_a_home(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cli.write("own.py", OTHER)
    made = cli("ingest", "own.py", XDG_DATA_HOME=str(tmp_path_factory.mktemp("empty")))

    assert (0, True) == (made.code, (cli.here / ".resource_maps").is_dir())


@pytest.mark.long
def test_a_command_that_writes_to_the_personal_home_says_so(
    cli: Cli, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("data")
    cli.write("own.py", OTHER)
    cli("ingest", "own.py", "--home", "@personal", XDG_DATA_HOME=str(own))

    made = cli("ingest", "own.py", XDG_DATA_HOME=str(own))

    assert (0, {"own.py"}) == (made.code, cli.everything())
    assert f"Using your personal home, {own / 'citekit'}. To use a home in this folder, add --home .\n" == made.err


def test_a_home_in_a_folder_above_is_not_used(cli: Cli) -> None:
    cli.write("own.py", OTHER)
    assert 0 == cli("ingest", "own.py").code
    (cli.here / "below").mkdir()

    assert [] == listed(Cli(cli.here / "below"))


@pytest.mark.long
def test_a_missing_resource_is_reported_with_the_home_and_how_to_choose_another(cli: Cli, data: Path) -> None:
    cli.write("own.py", OTHER)
    assert 0 == cli("ingest", "own.py").code
    environment = {"XDG_DATA_HOME": str(data)}

    elsewhere = cli("read", "personal_py", **environment)
    nowhere = cli("read", "nothing", "--home", "@personal", **environment)

    assert elsewhere.err.startswith("Error: No map found for resource 'personal_py'. Expected at: ")
    assert f"The home is {cli.here} (the current folder). To use another one, add --home DIR." in elsewhere.err
    assert "Your personal home has this resource. To use it, add --home @personal" in elsewhere.err
    assert nowhere.err.endswith(f"The home is {data / 'citekit'} (--home). To use another one, add --home DIR.\n")
    assert "personal home has" not in nowhere.err
    assert "add --home DIR." in cli("read", "nothing", "--json").document["error"]["message"]


def test_a_search_where_nothing_is_mapped_says_which_home_was_searched(cli: Cli) -> None:
    answer = cli("find", "return")

    assert (
        0,
        f"Nothing is mapped. The home is {cli.here} (the current folder). To use another one, add --home DIR.\n",
    ) == (
        answer.code,
        answer.err,
    )


@pytest.mark.long
def test_a_server_without_a_named_home_serves_the_personal_home(cli: Cli, data: Path) -> None:
    command = [sys.executable, "-m", "citekit", "serve"]
    environment = plain_environment(XDG_DATA_HOME=str(data))
    with subprocess.Popen(
        command, cwd=cli.here, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        wire = Wire(process)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        wire.request("initialize", hello)
        wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        answer = wire.request("tools/call", {"name": "listResources", "arguments": {}})
        assert process.stdin is not None
        process.stdin.close()

    assert "personal_py" in str(answer)


class TestTheRule:
    """`home_of_commands` and `home_named`."""

    @pytest.fixture(autouse=True)
    def in_folder(self, tmp_path: Path) -> Iterator[None]:
        """Run in an empty folder."""
        before = Path.cwd()
        (tmp_path / "here").mkdir()
        os.chdir(tmp_path / "here")
        yield
        os.chdir(before)

    def test_a_personal_home_of_another_user_is_not_chosen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "citekit" / ".resource_maps").mkdir(parents=True)
        environment = {"XDG_DATA_HOME": str(tmp_path)}
        assert "@personal" == home_of_commands(environment)

        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

        assert None is home_of_commands(environment)

    @pytest.mark.parametrize("name", [".resource_maps", ".citekit_output", ".citekit_library"])
    def test_a_folder_with_maps_evidence_or_a_library_is_a_home(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "citekit" / ".resource_maps").mkdir(parents=True)
        Path(name).mkdir()

        assert None is home_of_commands({"XDG_DATA_HOME": str(tmp_path)})

    def test_a_cache_alone_makes_no_home(self, tmp_path: Path) -> None:
        (tmp_path / "citekit" / ".citekit_cache").mkdir(parents=True)

        assert None is home_of_commands({"XDG_DATA_HOME": str(tmp_path)})

    def test_a_relative_data_folder_is_ignored_and_programs_use_the_current_folder(self) -> None:
        assert personal_home({"XDG_DATA_HOME": "data"}) == personal_home({})
        assert "." == home_named({})
        assert "./@personal" == home_named({}, "./@personal")

    def test_a_user_without_a_home_directory_has_no_personal_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)

        assert None is home_of_commands({})
        with pytest.raises(RequestRefused, match="Give the path of a folder"):
            home_named({}, "@personal")
