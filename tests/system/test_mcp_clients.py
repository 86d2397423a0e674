"""Settings of MCP clients are changed in one place and nowhere else."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from citekit.adapters.clients import json_edits, line_edits
from citekit.adapters.clients.known_clients import CLIENTS, Syntax
from citekit.adapters.clients.settings_files import BACKUP, LARGEST, FileMcpClients
from citekit.adapters.clients.starting import Launch
from citekit.domain.errors import RequestRefused
from citekit.domain.mcp_clients import ClientState, ServerEntry

ENTRY = ServerEntry(name="citekit", command="/opt/py thon", arguments=("-m", "citekit"), environment={"A": 'b"\\ü'})
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
DATA = st.dictionaries(
    NAMES,
    st.recursive(
        st.none() | st.booleans() | st.integers() | NAMES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
COMMENTED = """// settings
{
    // mine
    "theme": "dark", /* not // yours */
    "mcpServers": {
        // the others
        "other": {"command": "x", "args": ["//no comment", "}"],}, // last
    },
}
"""


@pytest.fixture
def clients(tmp_path: Path) -> FileMcpClients:
    return FileMcpClients({}, tmp_path)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A JSON text in some layout, with comments and commas at ends, and its data."""
    data = draw(DATA)
    if draw(st.booleans()):
        data["mcpServers"] = draw(
            st.dictionaries(NAMES.filter(lambda name: name != "citekit"), st.just({}), max_size=2)
        )
    text = json.dumps(data, indent=draw(st.sampled_from([None, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    if draw(st.booleans()) and data:
        text = text[:-1] + ",}"
    comment = draw(st.sampled_from(["", "// a } { \n", '/* " } */', "\ufeff"]))
    return comment + text + draw(st.sampled_from(["", "\n", "\n// end"])), data


@given(texts(), DATA)
def test_a_json_text_with_a_member_has_that_member_and_all_other_bytes(text: tuple[str, Any], value: object) -> None:
    before, data = text

    after = json_edits.with_member(before, ("mcpServers", "citekit"), value)

    expected = {**data, "mcpServers": {**data.get("mcpServers", {}), "citekit": value}}
    assert expected == json_edits.read(after)
    kept = json_edits.without_member(after, ("mcpServers", "citekit"))
    assert {"mcpServers": {}, **data} == {"mcpServers": {}, **json_edits.read(kept)}
    if data.get("mcpServers"):
        assert before == kept or "".join(before.split()) == "".join(kept.split())
    again = json_edits.with_member(after, ("mcpServers", "citekit"), 1)
    assert {**expected, "mcpServers": {**expected["mcpServers"], "citekit": 1}} == json_edits.read(again)


@given(st.text(alphabet='{}[]":,/*\n\\ a1ntrue'))
def test_a_text_is_read_as_json_or_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    try:
        found = json_edits.read(text)
    except json_edits.EditError:
        found = None
    assert expected is None or expected == found


def test_comments_and_layout_stay() -> None:
    after = json_edits.with_member(COMMENTED, ("mcpServers", "citekit"), {"command": "c"})

    assert COMMENTED == json_edits.without_member(after, ("mcpServers", "citekit"))
    added = '\n        "citekit": {\n            "command": "c"\n        },'
    assert COMMENTED.replace('"mcpServers": {', f'"mcpServers": {{{added}') == after


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"mcpServers": []}', '{"mcpServers": {}, "mcpServers": {}}', "{'a': 1}", "[" * 5000]
)
def test_a_json_text_that_is_not_understood_is_refused(clients: FileMcpClients, tmp_path: Path, text: str) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(text)

    with pytest.raises(RequestRefused, match=r"was not changed: .* by hand"):
        clients.connecting("cursor", ENTRY)
    assert text == path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\nmodel = 'x'\n",
        "[mcp_servers.other]\ncommand = 'a' # b\n\n# next\n[profiles.x]\na = 1",
        "[a]\r\nb = 1\r\n",
    ],
)
def test_a_toml_text_is_extended_and_restored(text: str) -> None:
    data = {"command": "/x y", "args": ["a", 'b"'], "env": {"A B": "ü"}}

    after = line_edits.toml_with(text, "mcp_servers", "citekit", data)

    assert data == tomllib.loads(after)["mcp_servers"]["citekit"]
    assert after.startswith(text)
    assert tomllib.loads(text) == tomllib.loads(line_edits.toml_without(after, "mcp_servers", "citekit"))
    twice = line_edits.toml_with(after, "mcp_servers", "citekit", {"command": "z"})
    assert {"command": "z"} == tomllib.loads(twice)["mcp_servers"]["citekit"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\nGOOSE_MODEL: x\n",
        "extensions: {}\nother: 1\n",
        "a: 1\nextensions:  # all\n    # first\n    developer:\n        enabled: true\n\nother:\n  - 1\n",
        "extensions:\n  developer:\n    args: [1]\n",
    ],
)
def test_a_yaml_text_is_extended_and_restored(text: str) -> None:
    data = {"cmd": "/x y", "args": ["a", "b: c"], "envs": {}, "enabled": True}

    after = line_edits.yaml_with(text, "extensions", "citekit", data)

    assert data == yaml.safe_load(after)["extensions"]["citekit"]
    assert set(text.splitlines()) - set(after.splitlines()) <= {"extensions: {}"}
    restored = yaml.safe_load(line_edits.yaml_without(after, "extensions", "citekit"))
    assert {"extensions": {}, **(yaml.safe_load(text) or {})} == {"extensions": {}, **restored}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_is_connected_changed_and_disconnected(clients: FileMcpClients, client: str) -> None:
    first = clients.connecting(client, ENTRY)
    assert (ClientState.ADDED, None) == (first.state, first.before)
    assert None is clients.apply(first)
    assert 0o600 == first.path.stat().st_mode & 0o777
    assert clients.snippet(client, ENTRY) == first.path.read_text()
    assert ClientState.UNCHANGED is clients.connecting(client, ENTRY).state
    (known,) = clients.connected("citekit")
    assert (client, "there is no program at /opt/py thon") == (known.client, known.problem)

    other = ServerEntry(name="citekit", command=sys.executable, arguments=())
    second = clients.connecting(client, other)
    assert ClientState.CHANGED is second.state
    backup = clients.apply(second)
    assert backup is not None
    assert backup.name.endswith(BACKUP)
    assert first.after == backup.read_bytes()
    assert [None] == [each.problem for each in clients.connected("citekit")]

    gone = clients.removing(client, "citekit")
    clients.apply(gone)
    assert ClientState.REMOVED is gone.state
    assert not clients.connected("citekit")
    assert ClientState.ABSENT is clients.removing(client, "citekit").state


def test_clients_are_found_by_their_traces(clients: FileMcpClients, tmp_path: Path) -> None:
    assert [] == clients.installed()
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".claude.json").write_text("{}")

    assert ["claude-code", "cursor"] == clients.installed()


def test_projects_have_settings_of_their_own(clients: FileMcpClients, tmp_path: Path) -> None:
    for name in ("copilot-cli", "vscode"):
        clients.apply(clients.connecting(name, ENTRY, tmp_path))

    assert {"citekit"} == set(json.loads((tmp_path / ".vscode" / "mcp.json").read_text())["servers"])
    with pytest.raises(RequestRefused, match="no project settings"):
        clients.connecting("windsurf", ENTRY, tmp_path)


def test_a_link_is_followed_and_stays_a_link(clients: FileMcpClients, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "mcp.json"
    real.write_text("{}")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").symlink_to(real)

    clients.apply(clients.connecting("cursor", ENTRY))

    assert (tmp_path / ".cursor" / "mcp.json").is_symlink()
    assert "citekit" in real.read_text()


def test_files_that_cannot_be_changed_say_why(clients: FileMcpClients, tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(RequestRefused, match="not encoded in UTF-8"):
        clients.connecting("cursor", ENTRY)
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(RequestRefused, match="larger than 20 MB"):
        clients.connecting("cursor", ENTRY)
    path.unlink()
    path.mkdir()
    with pytest.raises(RequestRefused, match="not a file"):
        clients.connecting("cursor", ENTRY)
    path.rmdir()
    path.write_text("{}")
    change = clients.connecting("cursor", ENTRY)
    path.write_text('{"b": 1}')
    with pytest.raises(RequestRefused, match="has changed since"):
        clients.apply(change)
    assert '{"b": 1}' == path.read_text()
    with pytest.raises(RequestRefused, match="no client named 'word'"):
        clients.connecting("word", ENTRY)
    path.with_name(path.name + ".citekit-backup").mkdir()
    with pytest.raises(
        RequestRefused, match=r"citekit-backup cannot be written: is a directory\. Fix this, or edit the settings"
    ):
        clients.apply(clients.connecting("cursor", ENTRY))
    if os.getuid():
        path.chmod(0o400)
        with pytest.raises(RequestRefused, match="read-only"):
            clients.apply(clients.connecting("cursor", ENTRY))


def test_the_settings_of_the_store_package_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    clients = FileMcpClients({"LOCALAPPDATA": str(tmp_path / "L"), "APPDATA": str(tmp_path / "R")}, tmp_path)
    assert tmp_path / "R" / "Claude" / "claude_desktop_config.json" == clients.connecting("claude-desktop", ENTRY).path
    package = tmp_path / "L" / "Packages" / "Claude_x1"
    package.mkdir(parents=True)

    found = clients.connecting("claude-desktop", ENTRY).path

    assert package / "LocalCache" / "Roaming" / "Claude" / "claude_desktop_config.json" == found
    for name in ("Claude_x1", "Claude_x2"):
        other = tmp_path / "L" / "Packages" / name / "LocalCache" / "Roaming" / "Claude"
        other.mkdir(parents=True, exist_ok=True)
        (other / "claude_desktop_config.json").write_text("{}")
    with pytest.raises(RequestRefused, match="several settings files"):
        clients.connecting("claude-desktop", ENTRY)


def test_links_contain_the_entry() -> None:
    clients = FileMcpClients({}, Path("/nowhere"))
    assert {name for name in CLIENTS if clients.link(name, ENTRY)} == {"cursor", "vscode", "lm-studio"}
    assert Syntax.TOML is CLIENTS["codex"].syntax


@pytest.mark.parametrize(
    ("words", "variables", "own"),
    [
        ((sys.executable, "-m", "citekit", "serve", "--home", "x"), (), True),
        ((sys.executable, "-m", "citekit", "serve"), (("CITEKIT_ROOTS", "x"),), True),
        ((sys.executable, "-m", "citekit", "serve"), (("PYTHONPATH", "x"),), False),
        ((sys.executable, "-c", "citekit", "serve"), (), False),
        (("/bin/sh", "-m", "citekit", "serve"), (), False),
    ],
)
def test_only_this_installation_is_started(
    words: tuple[str, ...], variables: tuple[tuple[str, str], ...], own: bool
) -> None:
    assert own is Launch(words, variables).is_this_installation


def test_the_entry_of_a_project_has_the_key_of_its_settings() -> None:
    clients = FileMcpClients({}, Path("/nowhere"))
    assert ["mcpServers"] == list(json_edits.read(clients.snippet("copilot-cli", ENTRY)))
    assert ["servers"] == list(json_edits.read(clients.snippet("copilot-cli", ENTRY, Path("/project"))))
