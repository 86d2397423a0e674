"""Every argument of every tool of both servers, fed with ways out of the folders that may be read."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Tool

from citekit.entrypoints.mcp.handlers import build_server
from tests.faults.table import Row, Scale
from tests.mcp.library_home import LibraryHome

MARK = "XYZZY-SECRET"
SIGNS = (MARK, "root:x:0", "PATH=", "Traceback", "unexpected error")
"""What no answer may hold: bytes of files outside, and failures that nobody foresaw."""

Call = tuple[str, dict[str, Any]]


def run(scale: Scale) -> Sequence[Row]:
    """At most `scale.inputs` calls of tools, resources and prompts; all of them are 1,300 or so."""
    with tempfile.TemporaryDirectory() as folder:
        return [_tried(Path(folder).resolve(), scale.inputs)]


def _tried(folder: Path, most: int) -> Row:
    home, outside = folder / "home", folder / "outside"
    home.mkdir()
    outside.mkdir()
    paths = _lay(home, outside)
    before = _state(folder, home)
    answers = anyio.run(_ask, LibraryHome.made(home), paths, home, most)
    leaks = [call for call, answer in answers if any(sign in answer for sign in SIGNS)]
    for call in leaks:
        sys.stderr.write(f"let out: {call}\n")
    changed = _state(folder, home) != before
    kept = 0 if changed else len(answers) - len(leaks)
    return Row("outside", "arguments of MCP tools, resources and prompts that lead out", len(answers), kept)


def _lay(home: Path, outside: Path) -> list[str]:
    (outside / "secret.txt").write_text(f"{MARK} the volcano erupts lava and ash. " * 40)
    (outside / "x.json").write_text(f'{{"resource_id": "x", "type": "text", "title": "{MARK}", "nodes": []}}')
    (home / "link.txt").symlink_to(outside / "secret.txt")
    (home / "folder").symlink_to(outside)
    (home / ".env").write_text(MARK)
    (home / ".hidden.txt").write_text(f"{MARK} some text. " * 50)
    real = [
        outside / "secret.txt",
        home / "link.txt",
        home / "folder" / "secret.txt",
        home / "folder",
        outside,
        home / ".env",
    ]
    return [
        *map(str, real),
        str(home / ".hidden.txt"),
        f"{home}/../outside/secret.txt",
        f"/proc/self/root{outside}/secret.txt",
        (outside / "secret.txt").as_uri(),
        *("../outside/secret.txt", "../../outside/x", "..%2F..%2Foutside%2Fx", "/etc/passwd", "/proc/self/environ", "/dev/zero"),
        *(r"\\server\share\x.txt", r"\\?\C:\x.txt", r"\\.\pipe\x", "//server/share", "C:\\x.txt", "NUL"),
        *("~/.ssh/id_rsa", "$HOME/x", "/", ".", "..", "", "a\0b", "x" * 5000, "text://../outside/x#lines=1"),
    ]  # fmt: skip


def _state(folder: Path, home: Path) -> list[tuple[str, bytes]]:
    return [(str(p), p.read_bytes()) for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_relative_to(home)]


async def _ask(library: LibraryHome, paths: Sequence[str], home: Path, most: int) -> list[tuple[Call, str]]:
    async with Client(build_server(library.app())) as client:
        calls = [call for tool in (await client.list_tools()).tools for call in _calls(tool, paths, home)]
        calls += [("resources/read", {"uri": f"citekit://maps/{path}"}) for path in paths]
        calls += [("prompts/get", {"name": f"guardian_{path}"}) for path in paths]
        random.Random(7).shuffle(calls)
        return [(call, await _answer(client, *call)) for call in calls[:most]]


def _calls(tool: Tool, paths: Sequence[str], home: Path) -> Iterator[Call]:
    properties: dict[str, Any] = tool.input_schema["properties"]
    texts = [name for name, schema in properties.items() if "string" in str(schema.get("type"))]
    needed = {name: "notes" if name in texts else 1 for name in tool.input_schema.get("required", ())}
    usual = {**needed, **({"file_path": str(home / "plain.txt")} if "file_path" in needed else {})}
    usual |= {name: "t" for name in ("title", "author") if "file_path" in needed and name in texts}
    for name in texts:
        yield from ((tool.name, {**usual, name: path}) for path in paths)


async def _answer(client: Client, name: str, arguments: dict[str, Any]) -> str:
    try:
        if name == "resources/read":
            return (await client.read_resource(arguments["uri"])).model_dump_json()
        if name == "prompts/get":
            return (await client.get_prompt(arguments["name"])).model_dump_json()
        return (await client.call_tool(name, arguments)).model_dump_json()
    except (MCPError, ValueError) as error:
        return str(error)
