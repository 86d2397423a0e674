"""The server over HTTP with a token, asked by the official TypeScript SDK, which checks answers against output schemas."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from citekit.container import bootstrap
from citekit.container.http_access import subjects_of
from citekit.domain.subject import INGEST, Subject
from tests.http.conftest import Start, paths_in
from tests.mcp.server_process import Home
from tests.mcp.test_typescript_client import HERE, NODE, packages

__all__ = ["packages"]


def subject_with_notes(home: Path, name: str) -> str:
    """A new subject with the notes that the client asks about; its token."""
    folder = home / ".citekit_subjects" / name
    folder.mkdir(parents=True)
    Home.with_notes(folder)
    (folder / "more.txt").write_text("More lines.\n")
    subject = Subject(name=name, home=folder, scopes=frozenset({INGEST}))
    return str(subjects_of(bootstrap(home=home)).add(subject))


@pytest.mark.slow
def test_the_official_typescript_client_is_answered_over_http(start: Start, packages: None, tmp_path: Path) -> None:
    tokens = {name: subject_with_notes(tmp_path, name) for name in ("alice", "bob")}
    (tmp_path / ".citekit_subjects" / "bob" / "notes.md").write_text("# Other notes\n\nOnly Bob has these lines.\n")
    bootstrap(home=tmp_path / ".citekit_subjects" / "bob").ingest(tmp_path / ".citekit_subjects" / "bob" / "notes.md")
    server = start(tmp_path)

    done, of_bob = (
        subprocess.run(
            [str(NODE), str(HERE / "client.mjs"), f"{server.url}/mcp", tokens[name]],
            stdout=subprocess.PIPE,
            check=True,
            timeout=120,
        )
        for name in ("alice", "bob")
    )

    heard: dict[str, Any] = json.loads(done.stdout)
    assert "Only Bob" not in done.stdout.decode()
    assert ["citekit://maps/notes", "citekit://maps/notes_md"] == sorted(json.loads(of_bob.stdout)["resources"])
    assert {"resolve", "verifyQuote", "ingest", "search", "fetch"} <= set(heard["tools"])
    assert heard["listed"]["structuredContent"] == {"resources": ["notes"]}
    assert heard["physical"]["structuredContent"]["output_path"] is None
    assert heard["evidence"]["text"] == "line 3\nline 4\nline 5\n"
    assert [each["finding"] for each in heard["quoted"]["structuredContent"]["verdicts"]] == ["exact", "absent"]
    assert heard["missing"]["isError"]
    assert heard["resources"] == ["citekit://maps/notes"]
    assert [] == paths_in(done.stdout.decode())
