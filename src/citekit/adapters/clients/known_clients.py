"""The known MCP clients: where each keeps its settings, and in what form."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from urllib.parse import quote

from attrs import field, frozen

from citekit.domain.mcp_clients import ServerEntry


class Syntax(StrEnum):
    """The language of a settings file. `JSON` may have comments and trailing commas."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


Shape = Callable[[ServerEntry], dict[str, object]]


def _plain(entry: ServerEntry) -> dict[str, object]:
    environment = {"env": dict(entry.environment)} if entry.environment else {}
    return {"command": entry.command, "args": list(entry.arguments), **environment}


def _typed(entry: ServerEntry) -> dict[str, object]:
    return {"type": "stdio", **_plain(entry)}


def _cline(entry: ServerEntry) -> dict[str, object]:
    return {**_plain(entry), "disabled": False}


def _zed(entry: ServerEntry) -> dict[str, object]:
    return {"source": "custom", **_plain(entry)}


def _copilot(entry: ServerEntry) -> dict[str, object]:
    return {"type": "local", **_plain(entry), "tools": ["*"]}


def _opencode(entry: ServerEntry) -> dict[str, object]:
    environment = {"environment": dict(entry.environment)} if entry.environment else {}
    return {"type": "local", "command": [entry.command, *entry.arguments], **environment, "enabled": True}


def _goose(entry: ServerEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "type": "stdio",
        "cmd": entry.command,
        "args": list(entry.arguments),
        "envs": dict(entry.environment),
        "enabled": True,
        "timeout": 300,
    }


def _encoded(entry: ServerEntry) -> str:
    return quote(base64.b64encode(json.dumps(_plain(entry)).encode()).decode(), safe="")


def _cursor_link(entry: ServerEntry) -> str:
    return f"cursor://anysphere.cursor-deeplink/mcp/install?name={quote(entry.name)}&config={_encoded(entry)}"


def _vscode_link(entry: ServerEntry) -> str:
    return f"vscode:mcp/install?{quote(json.dumps({'name': entry.name, **_typed(entry)}), safe='')}"


def _lmstudio_link(entry: ServerEntry) -> str:
    return f"lmstudio://add_mcp?name={quote(entry.name)}&config={_encoded(entry)}"


@frozen(kw_only=True)
class KnownClient:
    """A client. `files` are the possible paths of its settings file, the preferred one first.

    Paths begin with `{home}`, `{programs}` (the user's folder for settings of programs), `{config}` (`$XDG_CONFIG_HOME`
    or `~/.config` on all systems), `{local}` (`%LOCALAPPDATA%`), `{zed}` or `{goose}` (the settings folder of that
    client), or an environment variable such as `{CODEX_HOME}`. The name of one folder can end with `*`. Paths whose
    variable is not set are ignored. `traces` are files or folders whose existence shows that the client is installed.
    `project` is the settings file of a project, relative to its folder. `key` is the key of the servers in a settings
    file, and `project_key` in that of a project (None: `key`). `shape` returns the data of an entry, and `link` a link
    that adds the entry to the client. `skills` are the possible paths of the user's folder for agent skills, the
    preferred one first, and `project_skills` is this folder in a project.
    """

    title: str
    files: tuple[str, ...]
    traces: tuple[str, ...]
    project: str | None = None
    key: str = "mcpServers"
    project_key: str | None = None
    shape: Shape = field(default=_plain, repr=False)
    syntax: Syntax = Syntax.JSON
    link: Callable[[ServerEntry], str] | None = field(default=None, repr=False)
    skills: tuple[str, ...] = ()
    project_skills: str = ".agents/skills"


_CODE = "{programs}/Code/User"
_CLINE = f"{_CODE}/globalStorage/saoudrizwan.claude-dev"

CLIENTS: Mapping[str, KnownClient] = {
    "claude-desktop": KnownClient(
        title="Claude Desktop",
        # the package from the Windows Store never reads the usual path
        files=(
            "{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
            "{programs}/Claude/claude_desktop_config.json",
        ),
        traces=("{local}/Packages/Claude_*", "{programs}/Claude"),
    ),
    "claude-code": KnownClient(
        title="Claude Code",
        files=("{home}/.claude.json",),
        traces=("{home}/.claude.json", "{home}/.claude"),
        project=".mcp.json",
        shape=_typed,
        skills=("{CLAUDE_CONFIG_DIR}/skills", "{home}/.claude/skills"),
        project_skills=".claude/skills",
    ),
    "cursor": KnownClient(
        title="Cursor",
        files=("{home}/.cursor/mcp.json",),
        traces=("{home}/.cursor",),
        project=".cursor/mcp.json",
        link=_cursor_link,
        skills=("{home}/.cursor/skills",),
    ),
    "vscode": KnownClient(
        title="VS Code",
        files=(f"{_CODE}/mcp.json",),
        traces=(_CODE,),
        project=".vscode/mcp.json",
        key="servers",
        shape=_typed,
        link=_vscode_link,
        skills=("{home}/.copilot/skills",),
    ),
    "cline": KnownClient(
        title="Cline",
        files=(f"{_CLINE}/settings/cline_mcp_settings.json",),
        traces=(_CLINE,),
        shape=_cline,
        skills=("{home}/.agents/skills",),
    ),
    "windsurf": KnownClient(
        title="Windsurf",
        files=("{home}/.codeium/windsurf/mcp_config.json",),
        traces=("{home}/.codeium/windsurf",),
        skills=("{home}/.codeium/windsurf/skills",),
        project_skills=".windsurf/skills",
    ),
    "zed": KnownClient(
        title="Zed",
        files=("{zed}/settings.json",),
        traces=("{zed}",),
        project=".zed/settings.json",
        key="context_servers",
        shape=_zed,
        skills=("{home}/.agents/skills",),
    ),
    "gemini-cli": KnownClient(
        title="Gemini CLI",
        files=("{home}/.gemini/settings.json",),
        traces=("{home}/.gemini/settings.json", "{home}/.gemini/oauth_creds.json"),
        project=".gemini/settings.json",
        skills=("{home}/.gemini/skills",),
    ),
    "codex": KnownClient(
        title="Codex CLI",
        files=("{CODEX_HOME}/config.toml", "{home}/.codex/config.toml"),
        traces=("{CODEX_HOME}", "{home}/.codex"),
        project=".codex/config.toml",
        key="mcp_servers",
        syntax=Syntax.TOML,
        skills=("{CODEX_HOME}/skills", "{home}/.codex/skills"),
    ),
    "goose": KnownClient(
        title="Goose",
        files=("{goose}/config.yaml",),
        traces=("{goose}",),
        project=".goose/config.yaml",
        key="extensions",
        shape=_goose,
        skills=("{config}/goose/skills",),
        project_skills=".goose/skills",
        syntax=Syntax.YAML,
    ),
    "lm-studio": KnownClient(
        title="LM Studio",
        files=("{home}/.lmstudio/mcp.json",),
        traces=("{home}/.lmstudio",),
        link=_lmstudio_link,
    ),
    "opencode": KnownClient(
        title="OpenCode",
        files=("{config}/opencode/opencode.json",),
        traces=("{config}/opencode",),
        project="opencode.json",
        key="mcp",
        shape=_opencode,
        skills=("{config}/opencode/skills",),
    ),
    "copilot-cli": KnownClient(
        title="Copilot CLI",
        files=("{home}/.copilot/mcp-config.json",),
        traces=("{home}/.copilot",),
        project=".vscode/mcp.json",
        project_key="servers",
        shape=_copilot,
        skills=("{home}/.copilot/skills",),
    ),
}
"""The clients by name."""
