"""Maps as MCP resources."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.mcp import resources
from citekit.wire import maps
from tests.mcp.server_process import Served, node


def test_a_map_can_be_found_and_read_as_a_resource(served: Served) -> None:
    odd = served.home.add("été 2", node("a", 1, 2))

    async def work(client: Client) -> tuple[Any, ...]:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        (read,) = (await client.read_resource(listed[1].uri)).contents
        return [each.uri for each in listed], [each.uri_template for each in templates], read

    uris, templates, read = served.ask(work)

    assert ["citekit://maps/notes", "citekit://maps/%C3%A9t%C3%A9%202"] == uris
    evidence = ("{digest}", "{digest}/{first}-{last}", "{digest}/receipt")
    assert ["citekit://maps/{resource_id}", *(f"citekit://evidence/{each}" for each in evidence)] == templates
    assert ("application/json", maps.to_plain_map(odd)) == (read.mime_type, json.loads(read.text))


@pytest.mark.parametrize("uri", ["citekit://maps/nope", "citekit://maps/", "citekit://maps/%FF", "file:///etc/passwd"])
def test_a_resource_that_is_none_is_refused(served: Served, uri: str) -> None:
    async def work(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return caught.value

    refused = served.ask(work)

    assert -32602 == refused.error.code
    assert uri.removeprefix("file:///etc/") in str(refused) or "No map found for resource 'nope'" in str(refused)


@given(st.text(min_size=1))
def test_every_id_has_a_uri_of_its_own(name: str) -> None:
    try:
        uri = resources.uri_of(name)
    except UnicodeEncodeError:
        return

    assert name == resources.id_of(uri)


@given(st.text())
def test_a_text_is_a_uri_of_a_map_or_refused(text: str) -> None:
    try:
        found = resources.id_of(text)
    except RequestRefused:
        found = None

    assert found is None or text.startswith("citekit://maps/")


@settings(max_examples=8)
@given(st.integers(min_value=0, max_value=700))
def test_the_pages_of_a_listing_make_the_whole(count: int) -> None:
    ids = sorted(f"r{number}" for number in range(count))
    seen, cursor = [], None

    while True:
        page = resources.page_of(ids, cursor)
        seen += [each.name for each in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert ids == seen


def test_a_map_that_was_read_as_a_resource_is_cut_short_by_the_tool_as_before(served: Served) -> None:
    served.home.add("endless", *(node(f"part_{number}", 1, 2, summary="x" * 300) for number in range(400)))
    time.sleep(0.1)  # until another change of the file would show
    before = served.call("getStructure", resource_id="endless")

    async def work(client: Client) -> Any:
        return await client.read_resource(resources.uri_of("endless"))

    (read,) = served.ask(work).contents
    after = served.call("getStructure", resource_id="endless")

    assert before.structured_content is not None
    assert before.structured_content["truncated"]
    assert 400 == len(json.loads(read.text)["nodes"])
    assert before.structured_content == after.structured_content
