"""`citekit connect` from a shell, with the settings of clients in a temporary home directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.cli.program import Answer, Cli


@pytest.fixture
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("user")
    (home / ".cursor").mkdir()
    return home


def connect(cli: Cli, user: Path, *arguments: str) -> Answer:
    return cli("connect", *arguments, HOME=str(user), XDG_CONFIG_HOME=str(user / ".config"))


@pytest.mark.long
def test_an_installed_client_is_connected_and_its_entry_starts_the_server(cli: Cli, user: Path) -> None:
    cli.write("notes.md", "# Bees\n\nHoney.\n")
    cli("ingest", "notes.md")

    answer = connect(cli, user)

    path = user / ".cursor" / "mcp.json"
    assert (0, f"Cursor: connected  {path}\n") == (answer.code, answer.out), answer.err
    entry = json.loads(path.read_text())["mcpServers"]["citekit"]

    async def work() -> list[Any]:
        started = StdioServerParameters(command=entry["command"], args=entry["args"])
        async with Client(started) as client:
            answered = await client.call_tool("listResources", {})
            return list((answered.structured_content or {})["resources"])

    assert ["notes_md"] == anyio.run(work)
    assert f"Cursor: already connected  {path}\n" == connect(cli, user).out
    assert "connected: cursor" in cli("doctor", HOME=str(user)).out.lower().replace("  ", " ")
    assert 0 == connect(cli, user, "--remove").code
    assert "citekit" not in path.read_text()


@pytest.mark.long
def test_the_skill_is_offered_installed_and_removed_unless_it_was_edited(cli: Cli, user: Path) -> None:
    skill = user / ".cursor" / "skills" / "citekit" / "SKILL.md"

    assert "Clients without the CiteKit skill: Cursor." in connect(cli, user).err
    assert "skill installed (dry run, nothing written)" in connect(cli, user, "--skill", "--dry-run").out
    assert not skill.exists()
    assert "skill installed" in connect(cli, user, "--skill").out
    assert cli("skill").out == skill.read_text()
    assert ("", 0) == ((again := connect(cli, user, "cursor", "claude-desktop")).err, again.code)
    assert "skill removed" in connect(cli, user, "cursor", "--remove").out
    assert not skill.parent.exists()
    connect(cli, user, "cursor", "--skill")
    skill.write_text("mine")
    assert {"path": str(skill), "state": "edited"} == connect(cli, user, "cursor", "--remove", "--json").document[
        "clients"
    ][0]["skill"]
    assert "mine" == skill.read_text()


@pytest.mark.long
def test_the_doctor_starts_what_clients_would_start(cli: Cli, user: Path) -> None:
    assert 0 == connect(cli, user, "cursor").code
    path = user / ".cursor" / "mcp.json"
    settings = json.loads(path.read_text())
    settings["mcpServers"]["citekit"]["args"].append("--unknown")
    path.write_text(json.dumps(settings))

    answer = cli("doctor", HOME=str(user))

    assert "cursor cannot start CiteKit: it exited with the message: " in answer.out
    assert "remedy: citekit connect cursor" in answer.out


def test_a_dry_run_shows_the_difference_and_writes_nothing(cli: Cli, user: Path) -> None:
    path = user / ".cursor" / "mcp.json"
    path.write_text('{\n  "mcpServers": {}\n}\n')

    answer = connect(cli, user, "cursor", "--dry-run")

    assert "dry run" in answer.out
    assert '+    "citekit": {' in answer.out
    assert '{\n  "mcpServers": {}\n}\n' == path.read_text()


@pytest.mark.long
def test_a_broken_file_is_left_alone_and_others_are_still_connected(cli: Cli, user: Path) -> None:
    (user / ".cursor" / "mcp.json").write_text('{"half": ')

    answer = connect(cli, user, "cursor", "windsurf", "--json")

    first, second = answer.document["clients"]
    assert 1 == answer.code
    assert "not valid JSON at line 1" in first["error"]
    assert "added" == second["state"]
    assert '{"half": ' == (user / ".cursor" / "mcp.json").read_text()
    assert '"mcpServers"' in connect(cli, user, "--print", "cursor").out


@pytest.mark.parametrize("forbidden", ["file", "folder"])
def test_a_file_that_may_not_be_read_or_replaced_is_left_alone_and_told(cli: Cli, user: Path, forbidden: str) -> None:
    path = user / ".cursor" / "mcp.json"
    path.write_text('{"mine": 1}')
    (path if forbidden == "file" else path.parent).chmod(0 if forbidden == "file" else 0o500)

    answer = cli.as_anybody("connect", "cursor", HOME=str(user), XDG_CONFIG_HOME=str(user / ".config"))

    path.parent.chmod(0o700)
    path.chmod(0o600)
    assert 1 == answer.code
    assert 1 == answer.err.count("permission denied"), answer.err
    assert "unexpected error" not in answer.err
    assert '{"mine": 1}' == path.read_text()


def test_the_entry_and_a_link_are_printed(cli: Cli, user: Path) -> None:
    answer = connect(cli, user, "--print", "cursor", "codex")

    assert 0 == answer.code
    assert '"mcpServers"' in answer.out
    assert "[mcp_servers.citekit]" in answer.out
    assert "cursor://anysphere.cursor-deeplink/mcp/install?name=citekit&config=" in answer.out
    assert not (user / ".cursor" / "mcp.json").exists()


@pytest.mark.long
def test_no_client_and_an_unknown_one(cli: Cli, user: Path, tmp_path: Path) -> None:
    assert "No client was found" in connect(cli, tmp_path / "nobody").err
    assert "Known clients: claude-desktop" in connect(cli, user, "word").err


@pytest.mark.parametrize("link", [".mcp.json", ".claude"])
def test_a_link_that_leads_out_of_the_project_is_refused(cli: Cli, user: Path, link: str) -> None:
    outside = user / "outside"
    outside.mkdir()
    (cli.here / link).symlink_to(outside / "new.json" if link == ".mcp.json" else outside)

    refused = connect(cli, user, "claude-code", "--project", "--skill")

    assert refused.code != 0
    assert "leads outside the project" in refused.out + refused.err
    assert [] == list(outside.iterdir())


def test_settings_of_the_project(cli: Cli, user: Path) -> None:
    assert 0 == connect(cli, user, "claude-code", "--project").code

    assert ["citekit"] == list(json.loads((cli.here / ".mcp.json").read_text())["mcpServers"])
