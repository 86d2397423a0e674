"""The tool `readText`, called by the official Python client of a real server process."""

from __future__ import annotations

import jsonschema
from mcp_types import CallToolResult, TextContent

from citekit.entrypoints.mcp.read_text_tool import READ
from tests.mcp.server_process import Served


def shown(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_an_agent_gets_the_text_inline_as_text_and_as_structure(served: Served) -> None:
    result = served.call("readText", resource_id="notes", node_id="lines=34-36")

    assert not result.is_error
    jsonschema.validate(result.structured_content, READ)
    assert result.structured_content is not None
    assert ("text://notes#lines=34-36", "[line 34]\nline 34\nline 35\nline 36") == (
        result.structured_content["address"],
        result.structured_content["text"],
    )
    assert shown(result).startswith("text://notes#lines=34-36  ")
    assert shown(result).endswith("[line 34]\nline 34\nline 35\nline 36")


def test_a_cut_text_names_the_cursor_that_continues_it(served: Served) -> None:
    first = served.call("readText", resource_id="notes", max_chars=200)
    assert first.structured_content is not None
    cursor = first.structured_content["next_cursor"]

    assert cursor in shown(first)
    assert not served.call("readText", resource_id="notes", max_chars=200, cursor=cursor).is_error


def test_errors_are_sentences(served: Served) -> None:
    for arguments, message in (
        ({"resource_id": "note"}, "Did you mean 'notes'?"),
        ({"resource_id": "notes", "node_id": "lines=9999"}, "beyond the end"),
        ({"resource_id": "notes", "cursor": "1"}, "without a cursor"),
        ({"resource_id": "notes", "max_chars": 1}, "from 200 to 50000"),
    ):
        result = served.call("readText", **arguments)
        assert result.is_error
        assert message in shown(result)


def test_a_repeated_call_gives_the_same_text_until_the_file_changes(served: Served) -> None:
    arguments = {"resource_id": "notes", "node_id": "lines=34-36"}
    first, *others = [served.call("readText", **arguments).structured_content for _ in range(4)]
    assert [first] * 3 == others

    notes = served.home.source("notes")
    before = notes.read_bytes()
    try:
        notes.write_bytes(b"Another text.\n")
        changed = served.call("readText", **arguments).structured_content
    finally:
        notes.write_bytes(before)

    assert changed is not None
    assert "stale" in changed
