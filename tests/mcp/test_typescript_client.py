"""The same server, asked by the official TypeScript SDK, which holds every answer against the tool's output schema."""

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


@pytest.fixture(scope="module")
def packages() -> None:
    """The packages of `package-lock.json`, fetched once for as long as that file is the same."""
    wanted, done = (HERE / "package-lock.json").read_text(), HERE / "node_modules" / "fetched.json"
    if not done.exists() or done.read_text() != wanted:
        subprocess.run([str(NPM), "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=HERE, check=True)
        done.write_text(wanted)


@pytest.mark.skipif(NODE is None or NPM is None, reason="needs node and npm")
@pytest.mark.slow
def test_the_official_typescript_client_is_answered(home: Home, packages: None) -> None:
    done = subprocess.run(
        [str(NODE), str(HERE / "client.mjs"), *home.server],
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )

    heard: dict[str, Any] = json.loads(done.stdout)
    tools = ["listResources", "findText", "readText", "getStructure", "getNode", "resolve", "verifyQuote", "ingest"]
    assert tools == heard["tools"]
    assert "citekit" == heard["server"]["name"]
    assert {"resources": ["notes"]} == heard["listed"]["structuredContent"]
    assert ["intro", "body"] == [each["id"] for each in heard["structure"]["structuredContent"]["nodes"]]
    assert [1, 2] == [each["child_count"] for each in heard["branch"]["structuredContent"]["nodes"]]
    assert "intro #lines=1-20 section: Intro +1" == heard["branch"]["content"][0]["text"].split("\n")[1]
    assert [{"id": "intro.aim"}] == heard["node"]["structuredContent"]["children"]
    assert None is heard["virtual"]["structuredContent"]["output_path"]
    assert "text://notes#lines=3-5" == heard["virtual"]["structuredContent"]["address"]
    assert b"line 3\nline 4\nline 5\n" == Path(heard["physical"]["structuredContent"]["output_path"]).read_bytes()
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
