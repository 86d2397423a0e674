"""The tool `listResources`, asked by a real client of a real server process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from citekit.wire import maps
from tests.mcp.server_process import Home, node


def shown(result: CallToolResult) -> list[str]:
    assert not result.is_error, result.content
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text.split("\n")


def add_readmes(home: Home) -> None:
    for number, folder in enumerate(("api", "guide", "guide/start"), 1):
        name = f"readme_md_{number}"
        plain = maps.to_plain_map(home.add(name, node("a", 1, 2)))
        plain["source_path"] = f"/work/docs/{folder}/README.md"
        plain["title"] = "Read\nme"
        home.map_file(name).write_text(json.dumps(plain), encoding="utf-8")


def test_duplicates_are_distinguished_by_their_folders(home: Home) -> None:
    add_readmes(home)

    async def work(client: Client) -> list[CallToolResult]:
        queries: list[dict[str, Any]] = [{}, {"query": "readme"}, {"query": "GUIDE readme_md"}, {"query": ""}]
        return [await client.call_tool("listResources", each) for each in queries]

    plain, all_readmes, guide, every = home.ask(work)

    assert {"resources": ["notes", "readme_md_1", "readme_md_2", "readme_md_3"]} == plain.structured_content
    assert [
        "3 resources, paths below /work/docs",
        "readme_md_1: Read me (text, 400 lines) api/README.md",
        "readme_md_2: Read me (text, 400 lines) guide/README.md",
        "readme_md_3: Read me (text, 400 lines) guide/start/README.md",
    ] == shown(all_readmes)
    assert guide.structured_content is not None
    assert ["readme_md_2", "readme_md_3"] == guide.structured_content["resources"]
    assert {
        "id": "readme_md_2",
        "title": "Read\nme",
        "type": "text",
        "size": "400 lines",
        "source_path": "/work/docs/guide/README.md",
    } == guide.structured_content["details"][0]
    assert every.structured_content is not None
    assert 4 == every.structured_content["total"] == len(every.structured_content["details"])


@pytest.mark.long
def test_a_long_list_is_paged_and_a_damaged_map_is_listed(home: Home) -> None:
    source = home.map_file("notes").read_text(encoding="utf-8")
    for number in range(60):
        home.map_file(f"n{number:02}").write_text(source, encoding="utf-8")
    home.map_file("n55").write_text("{", encoding="utf-8")

    async def work(client: Client) -> list[CallToolResult]:
        first = await client.call_tool("listResources", {"query": ""})
        assert first.structured_content is not None
        rest = {"query": "", "cursor": first.structured_content["next_cursor"]}
        other = await client.call_tool("listResources", {"cursor": "nonsense"})
        return [first, await client.call_tool("listResources", rest), other]

    first, second, other = home.ask(work)

    assert first.structured_content is not None
    assert second.structured_content is not None
    listed = first.structured_content["resources"] + second.structured_content["resources"]
    assert [*(f"n{number:02}" for number in range(60)), "notes"] == listed
    assert "n55: The map of this resource cannot be read. For the reason, call getStructure." in shown(second)
    assert (61, "More: cursor 0:n49") == (second.structured_content["total"], shown(first)[-1])
    assert other.is_error
