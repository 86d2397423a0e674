"""The same server, asked by the official TypeScript SDK, which holds every answer against the tool's output schema, and
by the official inspector."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.server_process import Home

HERE = Path(__file__).parent / "typescript"
NODE, NPM = shutil.which("node"), shutil.which("npm")


INSPECTOR = HERE / "node_modules" / "@modelcontextprotocol" / "inspector-cli" / "build" / "cli.js"


@pytest.fixture(scope="module")
def packages() -> None:
    """The packages of `package-lock.json`. They are downloaded only by `make clients`."""
    done = HERE / "node_modules" / "fetched.json"
    if NODE is None or NPM is None:
        pytest.skip("needs node and npm")
    if not done.exists() or done.read_text() != (HERE / "package-lock.json").read_text():
        pytest.skip("needs npm packages: run make clients, which downloads them")


@pytest.mark.slow
def test_the_official_typescript_client_is_answered(home: Home, packages: None) -> None:
    (home.folder / "more.txt").write_text("More lines.\n")
    done = subprocess.run(
        [str(NODE), str(HERE / "client.mjs"), *home.server],
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )

    heard: dict[str, Any] = json.loads(done.stdout)
    tools = ["listResources", "findText", "readText", "getStructure", "getNode", "resolve", "verifyQuote", "ingest"]
    assert tools == heard["tools"]
    assert set(tools) == {name for name, _ in heard["calls"]}
    assert "citekit" == heard["server"]["name"]
    assert heard["ingested"]["structuredContent"]["resource_id"] == "more_txt"
    assert {"resources": ["notes"]} == heard["listed"]["structuredContent"]
    assert ["intro", "body"] == [each["id"] for each in heard["structure"]["structuredContent"]["nodes"]]
    assert [1, 2] == [each["child_count"] for each in heard["branch"]["structuredContent"]["nodes"]]
    assert "intro #lines=1-20 section: Intro +1" == heard["branch"]["content"][0]["text"].split("\n")[1]
    assert [{"id": "intro.aim"}] == heard["node"]["structuredContent"]["children"]
    assert None is heard["virtual"]["structuredContent"]["output_path"]
    assert "text://notes#lines=3-5" == heard["virtual"]["structuredContent"]["address"]
    assert b"line 3\nline 4\nline 5\n" == Path(heard["physical"]["structuredContent"]["output_path"]).read_bytes()
    assert heard["alone"]["structuredContent"]["uri"] == heard["physical"]["structuredContent"]["uri"]
    assert ["text", "resource_link", "text"] == [each["type"] for each in heard["physical"]["content"]]
    assert ("line 3\nline 4\nline 5\n", "text/plain") == (heard["evidence"]["text"], heard["evidence"]["mimeType"])
    assert "text://notes#lines=4" in [each["address"] for each in heard["found"]["structuredContent"]["hits"]]
    assert "line 4" in heard["text"]["structuredContent"]["text"]
    assert ["exact", "absent"] == [each["finding"] for each in heard["quoted"]["structuredContent"]["verdicts"]]
    assert "absent" == heard["nowhere"]["structuredContent"]["finding"]
    assert (True, "Error: Node 'invalid.node' not found.") == (
        heard["missing"]["isError"],
        heard["missing"]["content"][0]["text"],
    )
    assert (["citekit://maps/notes"], "citekit://maps/{resource_id}") == (heard["resources"], heard["templates"][0])
    assert heard["structure"]["structuredContent"] == json.loads(heard["map"]["text"])


CALLS: dict[str, tuple[list[str], str]] = {
    "listResources": ([], "notes"),
    "findText": (["query=line 4"], "text://notes#lines=4"),
    "readText": (["resource_id=notes", "node_id=lines=3-5"], "[line 3]"),
    "getStructure": (["resource_id=notes", "depth=1"], "intro #lines=1-20"),
    "getNode": (["resource_id=notes", "node_id=intro"], "intro.aim"),
    "resolve": (["resource_id=notes", "node_id=lines=3-5"], "line 3\\nline 4"),
    "verifyQuote": (["resource_id=notes", "quote=line 4"], "exact"),
    "ingest": (["path=more.txt"], "more_txt"),
}
"""By tool: its arguments, and what the answer contains."""


@pytest.mark.slow
def test_the_inspector_calls_every_tool(home: Home, packages: None) -> None:
    (home.folder / "more.txt").write_text("More lines.\n")

    def inspected(*arguments: str) -> str:
        command = [str(NODE), str(INSPECTOR), "--cli", *home.server, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120)
        return done.stdout.decode()

    listed = json.loads(inspected("--method", "tools/list"))
    answers = {
        tool: inspected(
            "--method", "tools/call", "--tool-name", tool, *(["--tool-arg", *arguments] if arguments else [])
        )
        for tool, (arguments, _) in CALLS.items()
    }

    assert list(CALLS) == [each["name"] for each in listed["tools"]]
    assert {} == {tool: answer for tool, answer in answers.items() if CALLS[tool][1] not in answer}
    assert not [tool for tool, answer in answers.items() if json.loads(answer).get("isError")]
    assert len(answers["getStructure"]) < 1500
