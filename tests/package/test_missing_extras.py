"""Without an extra, one clear line names it: on the command line, over MCP, and in the SDK; the rest works."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.package.bare_environment import ROOT, run, without

pytestmark = pytest.mark.long

EXTRAS = {
    "media": {"av", "ffmpeg"},
    "gemini": {"google"},
    "openai": {"openai"},
    "code": {"tree_sitter_swift", "tree_sitter_perl", "tree_sitter_sql"},
    "scale": {"obstore", "distributed", "psycopg"},
    "library": {"qdrant_edge", "qdrant_client", "wordllama", "yaml", "sentencex"},
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment without those extras."""
    return without(tmp_path_factory.mktemp("bare") / "venv", set().union(*EXTRAS.values()))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "talk.mp4").write_bytes((ROOT / "src/citekit/samples/run.mp4").read_bytes())
    (tmp_path / "notes.md").write_text("# Bees\n\nHoney.\n")
    (tmp_path / "tree.swift").write_text("func grow() {\n}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("extra", "words", "variables"),
    [
        ("media", ["ingest", "talk.mp4"], {}),
        ("gemini", ["ingest", "notes.md", "--mapper", "gemini"], {"GEMINI_API_KEY": "a-key"}),
        ("openai", ["ingest", "notes.md", "--mapper", "openai"], {"OPENAI_API_KEY": "a-key"}),
        ("library", ["query", "bees"], {}),
        ("scale", ["ingest", "notes.md", "--cluster", "local:1"], {}),
        ("scale", ["list"], {"CITEKIT_STORE": "s3://bucket/home"}),
        ("scale", ["query", "bees"], {"CITEKIT_DATABASE": "postgresql://nobody@127.0.0.1:9/none"}),
    ],
)
def test_the_command_line_names_the_extra_in_one_line(
    bare: Path, home: Path, extra: str, words: list[str], variables: dict[str, str]
) -> None:
    done = run(bare, home, *words, **variables)
    assert 0 != done.returncode
    (line,) = done.stderr.strip().splitlines()
    assert f"pip install 'citekit-evidence[{extra}]'" in line


def test_code_in_a_language_without_its_grammar_is_mapped_as_text_with_a_note(bare: Path, home: Path) -> None:
    done = run(bare, home, "ingest", "tree.swift")
    assert 0 == done.returncode, done.stderr
    assert "needs the extra 'code'" in run(bare, home, "structure", "tree_swift", "--json").stdout


def test_mcp_and_the_sdk_name_the_extra(bare: Path, home: Path) -> None:
    environment = {**os.environ, "XDG_DATA_HOME": "/nonexistent", "CITEKIT_ROOTS": str(home)}

    async def answer() -> str:
        words = ["-P", "-m", "citekit", "serve", "--home", str(home)]
        async with Client(StdioServerParameters(command=str(bare), args=words, env=environment)) as client:
            found = await client.call_tool("ingest", {"path": str(home / "talk.mp4")})
            return str(found.content[0])

    code = "from citekit import CiteKit; CiteKit(home='.').ingest('talk.mp4')"
    told = subprocess.run([str(bare), "-P", "-c", code], capture_output=True, text=True, cwd=home, env=environment)
    for text in (anyio.run(answer), told.stderr.strip().splitlines()[-1]):
        assert re.search(
            r"Reading video and audio needs the extra .media.\. To install it, run: pip install .{1,2}citekit-evidence\[media\]",
            text,
        )


def test_the_demo_shows_what_needs_no_extra(bare: Path, home: Path) -> None:
    done = run(bare, home, "demo", "--home", str(home / "demo"))
    assert 0 == done.returncode, done.stderr
    assert "run.mp4 is skipped: Reading video and audio needs the extra 'media'" in done.stdout + done.stderr
    assert "An Introduction to R" in done.stdout


def test_every_extra_that_a_message_names_exists_and_all_has_every_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'DriverMissing\([^()]*"([a-z]+)"\)', code)) | {"code"}
    assert named <= set(extras)
    (everything,) = extras["all"]
    assert set(re.findall(r"[a-z]+", everything.partition("[")[2])) == set(extras) - {"all"}
