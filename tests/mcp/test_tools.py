"""The core tools, asked by the official Python client of a real server process, in both eras of the protocol."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ResourceLink, TextContent, Tool

from citekit.entrypoints.cli.serve import command
from citekit.wire import maps
from tests.mcp.server_process import Home, Served, node
from tests.representatives import representatives


def plain(result: CallToolResult) -> dict[str, Any]:
    """The structured answer, which its text says too."""
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    first = result.content[0]
    assert isinstance(first, TextContent)
    assert result.structured_content == json.loads(first.text)
    return result.structured_content


def structured(result: CallToolResult) -> dict[str, Any]:
    """The structured answer of a tool whose text says it in fewer characters."""
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def shown(result: CallToolResult) -> str:
    """The text of an answer."""
    assert not result.is_error, result.content
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def error(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text


def test_the_tools_say_what_they_are_for(served: Served) -> None:
    async def work(client: Client) -> list[Tool]:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in served.ask(work)}

    names = ["listResources", "findText", "readText", "getStructure", "getNode", "resolve", "verifyQuote", "ingest"]
    assert names == list(tools)
    assert [] == [name for name in tools if name not in str(command.help)]
    assert [
        {},
        ["query"],
        ["resource_id"],
        ["resource_id"],
        ["resource_id", "node_id"],
        ["resource_id"],
        {},
        ["path"],
    ] == [tool.input_schema.get("required", {}) for tool in tools.values()]
    assert all(tool.description and tool.output_schema and tool.title for tool in tools.values())
    assert [True, True, True, True, True, False, True, False] == [
        tool.annotations and tool.annotations.read_only_hint for tool in tools.values()
    ]
    assert all(tool.annotations and tool.annotations.idempotent_hint for tool in tools.values())
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


def test_the_tools_cost_an_agent_at_most_1200_tokens(served: Served) -> None:
    async def work(client: Client) -> list[Tool]:
        return list((await client.list_tools()).tools)

    sent = [
        f"{tool.name} {tool.description} {json.dumps(tool.input_schema, separators=(',', ':'))}"
        for tool in served.ask(work)
    ]

    assert sum(map(len, sent)) / 4 <= 1200  # about four characters a token


def test_the_server_tells_an_agent_the_way(served: Served) -> None:
    async def work(client: Client) -> str | None:
        return client.instructions

    told = served.ask(work)

    assert told is not None
    named = ["findText", "verifyQuote", "readText", "listResources", "getStructure", "getNode", "resolve"]
    assert named == sorted(named, key=told.index)
    assert "two calls" in told


@pytest.mark.long
@pytest.mark.parametrize("mode", representatives(["legacy", "auto"], 1))
def test_every_map_is_listed_and_a_new_or_changed_one_without_a_restart(home: Home, mode: str) -> None:
    async def work(client: Client) -> list[object]:
        before = plain(await client.call_tool("listResources", {}))
        home.add("more", node("a", 1, 2))
        after = plain(await client.call_tool("listResources"))
        old = plain(await client.call_tool("getNode", {"resource_id": "more", "node_id": "a"}))
        home.add("more", node("a", 1, 2), node("b", 1, 2))
        changed = plain(await client.call_tool("getNode", {"resource_id": "more", "node_id": "b"}))
        home.map_file("more").unlink()
        home.map_file("notes").unlink()
        none = plain(await client.call_tool("listResources"))
        return [before, after, old["id"], changed["id"], none]

    found = home.ask(work, mode)

    assert [{"resources": ["notes"]}, {"resources": ["more", "notes"]}, "a", "b", {"resources": []}] == found


def test_a_quote_is_checked_in_a_node_an_address_or_the_whole_file(served: Served) -> None:
    told = [
        structured(served.call("verifyQuote", resource_id="notes", quote="line 4", **more))
        for more in ({"node_id": "intro.aim"}, {"node_id": "text://notes#lines=5"}, {}, {"node_id": None})
    ]
    absent = structured(served.call("verifyQuote", resource_id="notes", quote="line four"))

    assert ["exact", "elsewhere", "exact", "exact"] == [each["finding"] for each in told]
    assert ["text://notes#lines=4"] == [each["address"] for each in told[1]["places"]]
    assert ("absent", False, []) == (absent["finding"], absent["holds"], absent["places"])
    assert "no letters or digits" in error(served.call("verifyQuote", resource_id="notes", quote="..."))
    stranger = error(served.call("resolve", resource_id="/etc/passwd", node_id="text://passwd#lines=1"))
    assert "belongs to the resource 'passwd', not to" in stranger


def test_a_structure_is_the_whole_map(served: Served) -> None:
    stored = served.home.add("other", node("a", 1, 9, node("a.b", 2, 3, summary="Why")))

    answer = plain(served.call("getStructure", resource_id="other"))

    assert maps.to_plain_map(stored) == answer
    assert ["resource_id", "type", "title", "source_path", "metadata", "nodes", "created_at"] == list(answer)


def test_a_structure_can_be_had_in_levels_and_branches(served: Served) -> None:
    async def work(client: Client) -> list[dict[str, Any]]:
        top = await client.call_tool("getStructure", {"resource_id": "notes", "depth": 1})
        branch = await client.call_tool("getStructure", {"resource_id": "notes", "node_id": "body.second"})
        return [structured(top), structured(branch)]

    top, branch = served.ask(work)

    assert [("intro", 1), ("body", 2)] == [(each["id"], each["child_count"]) for each in top["nodes"]]
    assert not [each for each in top["nodes"] if "children" in each]
    assert (False, 2) == (top["truncated"], top["total_nodes"])
    assert ["body.second"] == [each["id"] for each in branch["nodes"]]


@pytest.mark.long
def test_a_huge_structure_comes_in_parts_that_make_the_whole(served: Served) -> None:
    chapters = [
        node(
            f"c{number}",
            number,
            number,
            *(node(f"c{number}.p{part}", number, number, summary="x" * 80) for part in range(9)),
        )
        for number in range(1, 201)
    ]
    served.home.add("huge", *chapters)

    async def work(client: Client) -> list[dict[str, Any]]:
        parts = [plain(await client.call_tool("getStructure", {"resource_id": "huge"}))]
        while "next_cursor" in parts[-1]:
            arguments = {"resource_id": "huge", "cursor": parts[-1]["next_cursor"]}
            parts.append(plain(await client.call_tool("getStructure", arguments)))
        return parts

    parts = served.ask(work)

    seen = [each for part in parts for each in ids_of(part["nodes"])]
    assert {each.id for chapter in chapters for each in chapter.walk()} == set(seen)
    assert len(parts) > 2
    assert [True] * (len(parts) - 1) + [False] == [part["truncated"] for part in parts]
    assert {2000} == {part["total_nodes"] for part in parts}
    assert max(len(json.dumps(part)) for part in parts) < 150_000


def ids_of(nodes: list[dict[str, Any]]) -> list[str]:
    return [found for each in nodes for found in (each["id"], *ids_of(each["children"]))]


def test_a_node_names_its_children_only(served: Served) -> None:
    answer = plain(served.call("getNode", resource_id="notes", node_id="body"))

    assert {
        "id": "body",
        "title": "Body",
        "type": "section",
        "location": {"modality": "text", "lines": [21, 400]},
        "children": [{"id": "body.first"}, {"id": "body.second"}],
    } == answer


def test_a_virtual_answer_is_an_address_without_a_file(served: Served) -> None:
    answer = plain(served.call("resolve", resource_id="notes", node_id="intro.aim", virtual=True))

    assert {
        "output_path": None,
        "modality": "text",
        "address": "text://notes#lines=3-5",
        "node": {
            "id": "intro.aim",
            "title": "Aim",
            "type": "section",
            "location": {"modality": "text", "lines": [3, 5]},
        },
        "resource_id": "notes",
    } == answer


def test_a_physical_answer_is_a_file_with_a_receipt_and_a_link(served: Served) -> None:
    result = served.call("resolve", resource_id="notes", node_id="intro.aim")

    answer = plain(result)
    path = Path(answer["output_path"])
    _, link, inline = result.content
    assert isinstance(link, ResourceLink)
    assert isinstance(inline, TextContent)
    assert "line 3\nline 4\nline 5\n" == inline.text
    assert b"line 3\nline 4\nline 5\n" == path.read_bytes()
    assert (".citekit_output", "notes_intro_aim.txt") == path.parts[-2:]
    assert answer["uri"] == link.uri == f"citekit://evidence/{hashlib.sha256(path.read_bytes()).hexdigest()}"
    assert (21, path.name) == (link.size, link.name)
    assert str(served.home.source("notes")) == answer["receipt"]["source_path"]


def test_a_part_is_resolved_by_any_form_of_its_address(served: Served) -> None:
    forms = [
        {"resource_id": "notes", "node_id": "lines=3-5"},
        {"resource_id": "notes", "node_id": "#lines=3-5"},
        {"resource_id": "notes", "node_id": "notes#lines=3-5"},
        {"resource_id": "text://notes", "node_id": "text://notes#lines=3-5"},
        {"resource_id": "text://notes#lines=3-5"},
        {"resource_id": "notes#lines=3-5"},
    ]

    for arguments in forms:
        for _ in range(2):  # the second answer comes from memory
            cut = plain(served.call("resolve", **arguments))
            assert b"line 3\nline 4\nline 5\n" == Path(cut["output_path"]).read_bytes()
            virtual = plain(served.call("resolve", **arguments, virtual=True))
            assert ("text://notes#lines=3-5", None) == (virtual["address"], virtual["output_path"])


def test_a_changed_source_is_told_refused_and_mapped_again_on_request(served: Served) -> None:
    source = served.home.source("changing")
    served.home.add("changing", node("intro", 1, 20))
    source.write_text("# Notes\n\n## Aim\n\nOther words.\n")

    async def work(client: Client) -> tuple[dict[str, Any], str, str]:
        part = {"resource_id": "changing", "node_id": "intro"}
        virtual = plain(await client.call_tool("resolve", {**part, "virtual": True}))
        refused = error(await client.call_tool("resolve", part))
        mapped = await client.call_tool("resolve", {**part, "remap": True})
        structure = plain(await client.call_tool("getStructure", {"resource_id": "changing"}))
        assert mapped.is_error is True  # the new map has no such node
        return virtual, refused, structure["metadata"]["source_hash"]

    virtual, refused, new_hash = served.ask(work)

    assert (True, "the source has changed since it was mapped") == (virtual["stale"], virtual["stale_reason"])
    assert refused.startswith(f"Error: The source of 'changing' has changed since it was mapped: {source}.")
    assert "remap: true" in refused
    assert new_hash == hashlib.sha256(source.read_bytes()).hexdigest()


def test_a_moved_source_is_refused_and_still_cited(served: Served) -> None:
    served.home.add("moving", node("intro", 1, 20))
    served.home.source("moving").unlink()

    async def work(client: Client) -> tuple[dict[str, Any], str]:
        part = {"resource_id": "moving", "node_id": "intro"}
        virtual = plain(await client.call_tool("resolve", {**part, "virtual": True}))
        return virtual, error(await client.call_tool("resolve", part))

    virtual, refused = served.ask(work)

    assert ("text://moving#lines=1-20", True) == (virtual["address"], virtual["stale"])
    assert refused.startswith(f"Error: The source of 'moving' is not at {served.home.source('moving')}.")


ERRORS: list[tuple[str, dict[str, Any], str]] = [
    (
        "getStructure",
        {"resource_id": "nonexistent_id"},
        "Error: No map found for resource 'nonexistent_id'. Expected at: .resource_maps/nonexistent_id.json",
    ),
    ("getNode", {"resource_id": "nonexistent", "node_id": "x"}, "Error: Resource 'nonexistent' not found."),
    ("resolve", {"resource_id": "nonexistent", "node_id": "x"}, "Error: Resource 'nonexistent' not found."),
    ("getNode", {"resource_id": "notes", "node_id": "invalid.node"}, "Error: Node 'invalid.node' not found."),
    ("resolve", {"resource_id": "notes", "node_id": "qqqq"}, "Error: Node 'qqqq' not found."),
    ("getNode", {"resource_id": "note", "node_id": "x"}, "Error: Resource 'note' not found. Did you mean 'notes'"),
    ("getNode", {"resource_id": "notes", "node_id": "intr"}, "Error: Node 'intr' not found. Did you mean 'intro'"),
    ("getNode", {}, "Error: getNode requires the argument resource_id, a string."),
    ("getNode", {"resource_id": "notes"}, "Error: getNode requires the argument node_id, a string."),
    ("getNode", {"resource_id": "notes", "node_id": None}, "Error: getNode requires the argument node_id, a string."),
    ("getNode", {"resource_id": 7, "node_id": "x"}, "Error: resource_id must be a string, not 7."),
    ("getNode", {"resource_id": ["notes"], "node_id": "x"}, "Error: resource_id must be a string, not ['notes']."),
    (
        "listResources",
        {"page": 2},
        "Error: 'page' is not an argument of listResources. Valid arguments: query, cursor.",
    ),
    ("getStructure", {"resource_id": "notes", "depth": 0}, "Error: depth must be an integer of at least 1, not 0."),
    (
        "getStructure",
        {"resource_id": "notes", "depth": True},
        "Error: depth must be an integer of at least 1, not True.",
    ),
    (
        "getStructure",
        {"resource_id": "notes", "cursor": "abc"},
        "Error: The cursor 'abc' does not belong to this structure",
    ),
    ("getStructure", {"resource_id": "notes", "node_id": "zzz"}, "Error: Node 'zzz' not found."),
    ("resolve", {}, "Error: resolve requires the argument resource_id, a string."),
    ("resolve", {"resource_id": "notes"}, "Error: resolve requires the argument node_id, or an address with a part"),
    ("resolve", {"resource_id": "text://notes"}, "Error: resolve requires the argument node_id, or an address with"),
    ("resolve", {"resource_id": "text://notes#x=3"}, "Error: The address 'text://notes#x=3'"),
    ("resolve", {"resource_id": "notes", "node_id": "intro", "virtual": "yes"}, "Error: virtual must be true or false"),
    ("resolve", {"resource_id": "notes", "node_id": "intro", "as": "gif"}, "Error: as must be one of native, pdf, png"),
    (
        "resolve",
        {"resource_id": "notes", "node_id": "intro", "as": "png"},
        "Error: This part of the text file is not available as png. Valid forms: native, text, source.",
    ),
    ("getStructure", {"resource_id": "../notes"}, "Error: The resource ID '../notes' contains a slash"),
    ("getStructure", {"resource_id": "a\\b"}, "Error: The resource ID 'a\\\\b' contains a slash"),
    (
        "getStructure",
        {"resource_id": "a\0b"},
        "Error: The resource ID 'a\\x00b' contains a slash, a backslash, or a control character",
    ),
    ("getStructure", {"resource_id": ".."}, "Error: The resource ID '..' contains a slash"),
    ("getStructure", {"resource_id": ""}, "Error: The resource ID is empty or blank."),
    ("getStructure", {"resource_id": "x" * 10_000}, "Error: The resource ID 'xxxx"),
    ("getStructure", {"resource_id": "\u202enotes"}, "Error: The resource ID '\\u202enotes' contains an invisible"),
    ("getNode", {"resource_id": "notes", "node_id": "a\0/../b"}, "Error: Node 'a\\x00/../b' not found."),
    ("getNode", {"resource_id": "notes", "node_id": "x" * 10_000}, "Error: Node 'xxxx"),
]


def test_every_bad_request_gets_one_clear_error_and_harms_nothing(served: Served) -> None:
    async def work(client: Client) -> list[str]:
        answers = [error(await client.call_tool(tool, arguments)) for tool, arguments, _ in ERRORS]
        plain(await client.call_tool("getNode", {"resource_id": "notes", "node_id": "intro"}))
        return answers

    answers = served.ask(work)

    assert [(tool, told) for tool, _, told in ERRORS] == [
        (tool, answer[: len(told)]) for (tool, _, told), answer in zip(ERRORS, answers, strict=True)
    ]
    assert max(len(answer) for answer in answers) < 1300


def test_the_errors_of_the_reference_are_worded_exactly_so(served: Served) -> None:
    async def work(client: Client) -> list[str]:
        return [error(await client.call_tool(tool, arguments)) for tool, arguments, _ in ERRORS[:4]]

    answers = served.ask(work)

    assert [told for _, _, told in ERRORS[:4]] == answers


def test_a_tool_that_is_none_is_an_error_of_the_protocol(served: Served) -> None:
    async def work(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("getstructure", {})
        return caught.value

    refused = served.ask(work)

    assert (-32602, True) == (
        refused.error.code,
        "listResources, findText, readText, getStructure, getNode, resolve, verifyQuote" in str(refused),
    )


def test_a_damaged_map_is_told_and_the_others_still_answer(served: Served) -> None:
    served.home.map_file("broken").write_text('{"resource_id": "broken", "nodes": [')

    async def work(client: Client) -> tuple[str, list[str]]:
        told = error(await client.call_tool("getStructure", {"resource_id": "broken"}))
        return told, plain(await client.call_tool("listResources"))["resources"]

    told, listed = served.ask(work)

    assert told.startswith("Error: The map of 'broken' is damaged:")
    assert {"broken", "notes"} <= set(listed)
