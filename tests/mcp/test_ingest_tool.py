"""The tool `ingest`, asked by a real client of a real server process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, ListRootsResult, Root, TextContent
from pydantic import FileUrl

from citekit.domain.mapper_identity import MapperIdentity
from citekit.entrypoints.mcp.ingest_tool import SIZE_LIMIT
from citekit.wire import maps
from tests.mcp.server_process import PATIENCE, Home, Wire, node

pytestmark = pytest.mark.long

SECRET = "the secret line\n"


def shown(result: CallToolResult) -> str:
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text


def ingest(home: Home, *paths: str | Path, mode: str = "auto") -> list[CallToolResult]:
    async def work(client: Client) -> list[CallToolResult]:
        return [await client.call_tool("ingest", {"path": str(path)}) for path in paths]

    return home.ask(work, mode)


def write(folder: Path, name: str, text: str = "# One\n\nWords.\n\n# Two\n\nMore words.\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home next to other folders."""
    (tmp_path / "home").mkdir()
    return Home.with_notes(tmp_path / "home")


def test_a_file_of_the_home_is_mapped_once_and_can_be_used(home: Home) -> None:
    path = write(home.folder, "papers/guide.md")

    async def work(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool("ingest", {"path": str(path)}),
            await client.call_tool("ingest", {"path": "papers/guide.md"}),
            await client.call_tool("findText", {"query": "more words"}),
        ]

    first, again, found = home.ask(work)

    assert {
        "resource_id": "guide_md",
        "title": "One",
        "type": "text",
        "size": "7 lines",
        "nodes": 2,
        "mapped_now": True,
    } == first.structured_content
    assert "guide_md: One (text, 7 lines, 2 nodes), mapped now" == shown(first)
    assert again.structured_content == {**(first.structured_content or {}), "mapped_now": False}
    assert shown(again).endswith("already mapped and unchanged")
    assert "text://guide_md#lines=7" in shown(found)


def test_the_text_is_indexed_at_ingest_and_found_though_the_file_is_gone(home: Home) -> None:
    path = write(home.folder, "guide.md")

    async def work(client: Client) -> tuple[CallToolResult, list[CallToolResult]]:
        mapped = await client.call_tool("ingest", {"path": str(path)})
        path.unlink()
        arguments = {"query": "more words"}, {"query": "more words", "resource_ids": ["guide_md"]}
        return mapped, [await client.call_tool("findText", each) for each in arguments]

    mapped, answers = home.ask(work)

    assert not mapped.is_error
    for found in answers:
        assert "text://guide_md#lines=7" in shown(found)
        assert "Stale: guide_md:" in shown(found)


def bad(home: Home) -> list[tuple[str, str]]:
    outside = write(home.folder.parent, "elsewhere/secret.txt", SECRET)
    (home.folder / "link.txt").symlink_to(outside)
    write(home.folder, "folder/inside.md")
    write(home.folder, ".env", "KEY=1\n")
    write(home.folder, "empty.txt", "")
    (home.folder / "data.bin").write_bytes(bytes(range(256)) * 40)
    with (home.folder / "huge.mp4").open("wb") as file:
        os.truncate(file.fileno(), SIZE_LIMIT + 1)
    os.mkfifo(home.folder / "pipe.txt")
    return [
        (str(outside), "outside the folders that may be read here"),
        (str(outside.with_name("missing.txt")), "outside the folders that may be read here"),
        ("../elsewhere/secret.txt", "outside the folders that may be read here"),
        (str(home.folder / "link.txt"), "outside the folders that may be read here"),
        (".env", "hidden"),
        (".resource_maps/notes.json", "hidden"),
        ("missing.txt", "missing.txt"),
        ("folder", "is a folder"),
        ("", "The path is empty"),
        ("empty.txt", "empty"),
        ("data.bin", "data.bin"),
        ("pipe.txt", "pipe.txt"),
        ("huge.mp4", "4,294,967,297 bytes"),
        ("https://example.org/a.pdf", "not a URL"),
        ("a\0b.txt", "hidden, or outside"),
    ]


def test_every_bad_file_gets_one_clear_error_and_leaves_nothing(home: Home) -> None:
    cases = bad(home)

    answers = ingest(home, *(path for path, _ in cases))

    assert [] == [
        (path, shown(answer))
        for (path, words), answer in zip(cases, answers, strict=True)
        if not answer.is_error or words not in shown(answer) or "\n" in shown(answer)
    ]
    assert ["notes.json"] == sorted(path.name for path in (home.folder / ".resource_maps").glob("*.json"))
    assert not [answer for answer in answers if SECRET.strip() in shown(answer)]


def test_a_file_next_to_an_ingested_one_can_be_read_but_not_mapped(home: Home, tmp_path: Path) -> None:
    from citekit import CiteKit

    named = write(tmp_path, "downloads/report.md")
    other = write(tmp_path, "downloads/taxes.md")
    CiteKit(home=home.folder).ingest(named)

    (answer,) = ingest(home, other)

    assert answer.is_error
    assert "outside the folders" in shown(answer)


def test_the_folders_of_the_client_and_the_roots_can_be_mapped(home: Home, tmp_path: Path) -> None:
    project, rooted = write(tmp_path, "project/a.md"), write(tmp_path, "rooted/b.md")

    async def session(offered: Path, environment: dict[str, str], path: Path) -> CallToolResult:
        async def roots(context: Any) -> ListRootsResult:
            return ListRootsResult(roots=[Root(uri=FileUrl(offered.as_uri()))])

        parameters = home.parameters()
        parameters.env = {**os.environ, **environment}
        with anyio.fail_after(PATIENCE):
            async with Client(parameters, mode="legacy", list_roots_callback=roots) as client:
                return await client.call_tool("ingest", {"path": str(path)})

    offered = anyio.run(session, project.parent, {}, project)
    ignored = anyio.run(session, project.parent, {"CITEKIT_CLIENT_ROOTS": "off"}, write(tmp_path, "project/c.md"))
    configured = anyio.run(session, project.parent, {"CITEKIT_ROOTS": str(rooted.parent)}, rooted)

    assert [False, True, False] == [bool(each.is_error) for each in (offered, ignored, configured)]


@pytest.mark.parametrize("broad", ["own", "above"])
def test_a_home_that_nobody_chose_for_agents_is_not_mapped(home: Home, broad: str) -> None:
    path = write(home.folder, "guide.md")
    own = home.folder if broad == "own" else home.folder / "user"
    own.mkdir(exist_ok=True)

    async def session(roots: str) -> CallToolResult:
        parameters = home.parameters()
        parameters.env = {**os.environ, "HOME": str(own), "CITEKIT_ROOTS": roots}
        with anyio.fail_after(PATIENCE):
            async with Client(parameters) as client:
                return await client.call_tool("ingest", {"path": str(path)})

    refused, allowed = anyio.run(session, ""), anyio.run(session, str(home.folder))

    assert "outside the folders" in shown(refused)
    assert not allowed.is_error


def test_the_owner_can_switch_it_off(home: Home) -> None:
    async def session() -> list[str]:
        parameters = home.parameters()
        parameters.env = {**os.environ, "CITEKIT_CLIENT_INGEST": "off"}
        async with Client(parameters) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "ingest" not in anyio.run(session)


def test_the_map_of_a_model_is_never_replaced(home: Home) -> None:
    path = write(home.folder, "guide.md")
    (first,) = ingest(home, path)
    stored = maps.from_json(home.map_file("guide_md").read_text(encoding="utf-8"), "guide_md")
    plain = maps.to_plain_map(stored)
    plain["metadata"]["mapper"] = MapperIdentity("gemini", "1", "pro").to_metadata()
    home.map_file("guide_md").write_text(json.dumps(plain), encoding="utf-8")

    (same,) = ingest(home, path)
    path.write_text("# Changed\n", encoding="utf-8")
    (changed,) = ingest(home, path)

    assert not first.is_error
    assert same.structured_content is not None
    assert ("guide_md", False) == (same.structured_content["resource_id"], same.structured_content["mapped_now"])
    assert "has changed since another mapper made its map" in shown(changed)
    assert plain == json.loads(home.map_file("guide_md").read_text(encoding="utf-8"))


def test_a_changed_file_is_mapped_again(home: Home) -> None:
    path = write(home.folder, "guide.md")
    ingest(home, path)
    path.write_text("# Changed\n", encoding="utf-8")

    (changed,) = ingest(home, path)

    assert changed.structured_content is not None
    assert ("guide_md", "Changed", True) == tuple(
        changed.structured_content[name] for name in ("resource_id", "title", "mapped_now")
    )


def test_no_model_is_asked_even_if_one_is_configured(home: Home) -> None:
    path = write(home.folder, "guide.md")

    async def session() -> CallToolResult:
        parameters = home.parameters()
        parameters.env = {**os.environ, "GEMINI_API_KEY": "not a key", "CITEKIT_BASE_URL": "http://127.0.0.1:9"}
        async with Client(parameters) as client:
            return await client.call_tool("ingest", {"path": str(path)})

    answer = anyio.run(session)

    assert not answer.is_error, shown(answer)
    stored = maps.from_json(home.map_file("guide_md").read_text(encoding="utf-8"), "guide_md")
    assert stored.mapper is not None
    assert "local" == stored.mapper.name


def test_progress_is_reported_and_a_canceled_ingest_leaves_nothing(home: Home, wire: Callable[..., Wire]) -> None:
    large = "".join(f"Line {number} of a long text.\n" for number in range(1_500_000))
    write(home.folder, "long.txt", large)
    client = wire()
    arguments = {"name": "ingest", "arguments": {"path": "long.txt"}, "_meta": {"progressToken": 7}}
    number = client.start("tools/call", arguments)
    while client.read().get("method") != "notifications/progress":
        pass

    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    assert ["notes"] == client.call("listResources")["structuredContent"]["resources"]
    client.leave()
    assert ["notes.json"] == sorted(path.name for path in (home.folder / ".resource_maps").glob("*.json"))


def test_a_new_map_is_listed_at_once(home: Home) -> None:
    home.add("other", node("a", 1, 2))
    write(home.folder, "guide.md")

    async def work(client: Client) -> list[object]:
        before = await client.call_tool("listResources", {})
        await client.call_tool("ingest", {"path": "guide.md"})
        after = await client.call_tool("listResources", {})
        return [before.structured_content, after.structured_content]

    assert [{"resources": ["notes", "other"]}, {"resources": ["guide_md", "notes", "other"]}] == home.ask(work)
