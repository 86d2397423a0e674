"""What an agent is told of where files lie: the paths of those that it may name, of all others the names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent

from citekit.adapters.sources.allowed_folders import AllowedFolders
from citekit.container import bootstrap
from citekit.domain.errors import NodeMissing, SourceMoved
from citekit.entrypoints.mcp.handlers import build_server
from citekit.entrypoints.mcp.path_redaction import Discretion
from citekit.settings import settings_from

DISCREET = Discretion(AllowedFolders([Path("/srv/allowed books")]), (Path("/srv/maps/.kept"),))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("not at /home/ann/taxes/2024.pdf. Put it back", "not at 2024.pdf. Put it back"),
        ("not at '/home/ann/my taxes/the year 2024.pdf', it", "not at 'the year 2024.pdf', it"),
        ("not at /home/ann/my taxes/the year.pdf, it", "not at the year.pdf, it"),
        ("/a/b and /c/d (/e/f): /g", "b and d (f): g"),
        ("(/a/b,/c/d;/e/f:/g/h=/i/j)", "(b,d;f:h=j)"),
        ("file:///home/ann/x.pdf", "x.pdf"),
        (r"C:\Users\ann\x.pdf or \\server\share\y.pdf", "x.pdf or y.pdf"),
        (
            "see https://a.b/c/d and doc://book#pages=1 and/or 1/2 / 3",
            "see https://a.b/c/d and doc://book#pages=1 and/or 1/2 / 3",
        ),
        ("at /srv/allowed books/a b/c.pdf.", "at /srv/allowed books/a b/c.pdf."),
        ("in /srv/allowed books, and", "in /srv/allowed books, and"),
        ("at /srv/allowed books/.git/c.pdf.", "at c.pdf."),
        ("at /srv/allowed books/../other/c.pdf.", "at c.pdf."),
        ("at /srv/allowed bookshop/c.pdf.", "at c.pdf."),
        ("at /srv/maps/.kept/c.json.", "at /srv/maps/.kept/c.json."),
        ("</p> is read, /one/two/ is not, or 1 / 2 and/or 3", "</p> is read, two/ is not, or 1 / 2 and/or 3"),
        ("FILE://localhost/home/ann/x.pdf or sqlite:////home/ann/x.db", "x.pdf or sqlite:x.db"),
        ("/" * 100_000, None),
        ("-/ " * 100_000, None),
        ("/a" + "." * 100_000, None),
        ("/a " * 100_000, None),
        ("/a/" + "b " * 100_000, None),
    ],
)
def test_only_paths_that_may_be_named_are_told_whole(text: str, shown: str | None) -> None:
    told = DISCREET(text)

    assert shown in (told, None)
    assert len(told) < 20_010


def test_a_path_that_an_error_holds_is_found_whatever_its_name_is_like() -> None:
    moved = SourceMoved("x", "/home/ann's, (old). Files/a: b.pdf")

    assert "not at a: b.pdf." in DISCREET(str(moved), moved)


def test_an_id_that_looks_like_a_path_is_told_whole() -> None:
    missing = NodeMissing("x", "/api/user", ["/api/users"])

    assert str(missing) == DISCREET(str(missing), missing)


def test_no_tool_tells_where_files_of_the_computer_lie(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "ann's files"
    node = {"id": "all", "title": "All", "type": "section", "location": {"modality": "text", "lines": [1, 1]}}
    plain = {"resource_id": "x", "type": "text", "title": "T", "source_path": str(other / "diary.txt")}
    (home / ".resource_maps").mkdir(parents=True)
    whole = {**plain, "nodes": [node], "metadata": {"line_count": 2}, "created_at": "2025-01-01T00:00:00Z"}
    (home / ".resource_maps" / "x.json").write_text(json.dumps(whole))
    settings = settings_from({"LOCAL_INGEST_PATH": str(home), "CALIBRE_LIBRARY_PATH": str(home / "none")}, home)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("resolve", {"resource_id": "x", "node_id": "all"}),
        ("resolve", {"resource_id": "x", "node_id": "all", "remap": True}),
        ("resolve", {"resource_id": "x", "node_id": "all", "virtual": True}),
        ("verifyQuote", {"resource_id": "x", "quote": "secret"}),
        ("findText", {"query": "secret", "resource_ids": ["x"]}),
        ("readText", {"resource_id": "x"}),
        ("alexandria_test_chunking_file", {"file_path": str(other / "diary.txt")}),
        ("alexandria_ingest_file", {"file_path": str(other / "diary.txt")}),
        ("alexandria_remove", {"file_path": str(other / "diary.txt")}),
        ("alexandria_browse_local", {"path": str(other / "diary")}),
    ]

    async def work() -> list[str]:
        async with Client(build_server(bootstrap(settings))) as client:
            known = {tool.name for tool in (await client.list_tools()).tools}
            assert known >= {name for name, _ in asked}, sorted(known)
            results = [await client.call_tool(name, given) for name, given in asked]
            return [each.content[0].text for each in results if isinstance(each.content[0], TextContent)]

    for answer in anyio.run(work):
        assert "diary" in answer
        assert other.name not in answer.replace(r"\u0027", "'")
