"""What the server says of the library's tools, and when it offers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Tool

from citekit.entrypoints.mcp.library.toolset import TOOLS
from tests.mcp.library_home import LibraryHome

NAMES = [
    "alexandria_query",
    "alexandria_guardians",
    "alexandria_search",
    "alexandria_book",
    "alexandria_stats",
    "alexandria_ingest_preview",
    "alexandria_ingest",
    "alexandria_batch_ingest",
    "alexandria_test_chunking",
    "alexandria_compare_chunking",
    "alexandria_browse_local",
    "alexandria_ingest_file",
    "alexandria_test_chunking_file",
    "alexandria_remove",
]
CUTTING = {"threshold": 0.55, "min_chunk_size": 200, "max_chunk_size": 1200}
INGESTING = {"collection": None, "hierarchical": True, **CUTTING}
CONTRACT: dict[str, tuple[dict[str, Any], list[str]]] = {
    "alexandria_query": (
        {
            "query": None,
            "limit": 5,
            "threshold": 0.5,
            "context_mode": "precise",
            "response_pattern": "free",
            "guardian": "zec",
        },
        ["query"],
    ),
    "alexandria_guardians": ({}, []),
    "alexandria_search": ({"author": None, "title": None, "language": None, "tags": None, "limit": 20}, []),
    "alexandria_book": ({"book_id": None}, ["book_id"]),
    "alexandria_stats": ({}, []),
    "alexandria_ingest_preview": (
        {"author": None, "title": None, "language": None, "format_filter": "epub", "limit": 20},
        [],
    ),
    "alexandria_ingest": ({"book_id": None, "format_preference": "epub", **INGESTING}, ["book_id"]),
    "alexandria_batch_ingest": (
        {
            "book_ids": None,
            "author": None,
            "title": None,
            "language": None,
            "limit": 10,
            "format_preference": "epub",
            **INGESTING,
        },
        [],
    ),
    "alexandria_test_chunking": ({"book_id": None, **CUTTING, "format_preference": "epub"}, ["book_id"]),
    "alexandria_compare_chunking": ({"book_id": None, "format_preference": "epub"}, ["book_id"]),
    "alexandria_browse_local": ({"path": None, "recursive": False}, []),
    "alexandria_ingest_file": (
        {"file_path": None, "title": None, "author": None, "language": None, **INGESTING},
        ["file_path"],
    ),
    "alexandria_test_chunking_file": ({"file_path": None, **CUTTING}, ["file_path"]),
}


async def listed(client: Client) -> list[Tool]:
    return (await client.list_tools()).tools


@pytest.mark.parametrize(
    ("asked", "count", "first"),
    [("citekit", 8, "listResources"), ("alexandria", 14, NAMES[0]), ("citekit,alexandria", 22, "listResources")],
)
def test_the_groups_of_tools_are_offered_that_were_asked_for(
    tmp_path: Path, asked: str, count: int, first: str
) -> None:
    async def work(client: Client) -> tuple[list[str], str, bool]:
        prompts = client.server_capabilities.prompts is not None
        return [tool.name for tool in await listed(client)], client.instructions or "", prompts

    names, instructions, prompts = LibraryHome(tmp_path, environment={"CITEKIT_TOOLS": asked}).ask(work)

    assert (count, first) == (len(names), names[0])
    assert ("citekit" in asked, "alexandria" in asked) == (
        "getStructure" in instructions,
        "alexandria_query" in instructions,
    )
    assert ("alexandria" in asked) is prompts


def test_all_tools_cost_an_agent_at_most_3000_tokens(tmp_path: Path) -> None:
    tools = LibraryHome(tmp_path, environment={"CITEKIT_TOOLS": "citekit,alexandria"}).ask(listed)

    sent = [f"{tool.name} {tool.description} {json.dumps(tool.input_schema, separators=(',', ':'))}" for tool in tools]

    assert 22 == len(sent)
    assert sum(map(len, sent)) / 4 <= 3000  # about four characters a token


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_those_of_the_contract_in_its_order(tmp_path: Path, mode: str) -> None:
    tools = LibraryHome(tmp_path, environment={"CITEKIT_TOOLS": "alexandria"}).ask(listed, mode)
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "mcp.md").read_text(encoding="utf-8")
    explained = reference.partition("## Arguments of several tools")[2].partition("## Guardians")[0]

    assert NAMES == [tool.name for tool in tools]
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is not None
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.title
        assert len(tool.description or "") > 40
        bare = [name for name, field in tool.input_schema["properties"].items() if "description" not in field]
        assert [] == [name for name in bare if f"`{name}`" not in explained], (
            "explained neither here nor in the reference"
        )


@pytest.mark.parametrize("name", CONTRACT)
def test_arguments_and_their_defaults_are_those_of_the_contract(name: str) -> None:
    tool = next(each for each in TOOLS if each.name == name)
    defaults, required = CONTRACT[name]
    fields = tool.input_schema["properties"]

    assert defaults == {each: fields[each].get("default") for each in defaults}
    assert required == tool.input_schema.get("required", [])


def test_the_tools_say_what_they_change() -> None:
    kinds = {tool.name: tool.annotations for tool in TOOLS}

    assert {"alexandria_ingest", "alexandria_batch_ingest", "alexandria_ingest_file", "alexandria_remove"} == {
        name for name, kind in kinds.items() if kind and not kind.read_only_hint
    }
    assert ["alexandria_remove"] == [name for name, kind in kinds.items() if kind and kind.destructive_hint]
    assert all(kind and kind.idempotent_hint for kind in kinds.values())


BAD_ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("alexandria_query", {}, "alexandria_query requires the argument query, a string."),
    ("alexandria_query", {"query": 5}, "query must be a string, not 5."),
    ("alexandria_query", {"query": "x", "limit": "many"}, "limit must be an integer, not 'many'."),
    ("alexandria_query", {"query": "x", "limit": 2.5}, "limit must be an integer, not 2.5."),
    ("alexandria_query", {"query": "x", "limit": True}, "limit must be an integer, not True."),
    ("alexandria_query", {"query": "x\0"}, "query must be valid Unicode without NUL characters, not 'x\\x00'."),
    ("alexandria_search", {"name": "x"}, "'name' is not an argument of alexandria_search"),
    ("alexandria_book", {"book_id": None}, "alexandria_book requires the argument book_id, an integer."),
    ("alexandria_guardians", {"x": 1}, "Valid arguments: none."),
    ("alexandria_ingest", {"book_id": 1, "hierarchical": "maybe"}, "hierarchical must be true or false, not 'maybe'."),
    ("alexandria_ingest", {"book_id": 1, "threshold": 7}, "threshold must be a number from 0 to 1"),
    ("alexandria_ingest", {"book_id": 1, "min_chunk_size": 9, "max_chunk_size": 3}, "must not be below"),
    ("alexandria_batch_ingest", {"book_ids": [1, "x"]}, "book_ids must be an array of at most 1000 integers"),
    ("alexandria_batch_ingest", {"book_ids": 1}, "book_ids must be an array of at most 1000 integers"),
    ("alexandria_ingest_file", {}, "alexandria_ingest_file requires the argument file_path, a string."),
    ("alexandria_remove", {}, "Give exactly one of book_id"),
    ("alexandria_remove", {"book_id": 1, "resource_id": "x"}, "Give exactly one of book_id"),
]


@pytest.mark.parametrize(("tool", "arguments", "told"), BAD_ARGUMENTS)
def test_bad_arguments_are_told_inside_the_answer(
    tmp_path: Path, tool: str, arguments: dict[str, Any], told: str
) -> None:
    answer = LibraryHome.made(tmp_path).call(tool, **arguments)

    assert answer["success"] is False
    assert told in answer["error"]


def test_numbers_and_truth_may_be_written_as_texts(tmp_path: Path) -> None:
    answer = LibraryHome.made(tmp_path).call(
        "alexandria_ingest", book_id="1", hierarchical="False", threshold="0.4", min_chunk_size=50.0, collection=None
    )

    assert (True, False, 0.4, 50, "alexandria") == (
        answer["success"],
        answer["hierarchical"],
        answer["chunking_params"]["threshold"],
        answer["chunking_params"]["min_chunk_size"],
        answer["collection"],
    )


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(tmp_path: Path) -> None:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("alexandria_burn", {})
        return str(caught.value)

    assert "alexandria_burn" in LibraryHome(tmp_path).ask(work)
