"""Changes of maps are announced, and IDs are completed, by a real server process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.subscriptions import ServerEvent
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import CompleteRequestParams, CompletionArgument, PromptReference, ResourceTemplateReference

from citekit.entrypoints.mcp import resources
from citekit.entrypoints.mcp.handlers import COMPLETIONS_LIMIT, completed
from tests.mcp.server_process import Home, Wire, node

LIST = "notifications/resources/list_changed"
UPDATED = "notifications/resources/updated"
NOTES = resources.uri_of("notes")


def heard(client: Wire, method: str) -> dict[str, Any]:
    """The parameters of the next notification with that method."""
    while (message := client.read()).get("method") != method:
        pass
    found: dict[str, Any] = message.get("params", {})
    return found


def test_a_client_hears_of_a_new_map_and_of_a_removed_one(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire()
    assert "notes" in client.call("listResources")["structuredContent"]["resources"]

    home.add("more", node("a", 1, 2))
    heard(client, LIST)
    home.map_file("more").unlink()
    heard(client, LIST)

    assert ["notes"] == client.call("listResources")["structuredContent"]["resources"]


@pytest.mark.long
def test_a_client_hears_of_changes_of_the_maps_to_which_it_subscribed(home: Home, wire: Callable[..., Wire]) -> None:
    home.add("other", node("a", 1, 2))
    home.add("third", node("a", 1, 2))
    client = wire()
    for name in ("notes", "later", "third"):
        assert {} == client.request("resources/subscribe", {"uri": resources.uri_of(name)})["result"]
    client.request("resources/unsubscribe", {"uri": resources.uri_of("third")})
    client.request("resources/unsubscribe", {"uri": resources.uri_of("other")})

    home.add("third", node("a", 1, 3))
    home.add("other", node("a", 1, 3))
    home.add("notes", node("b", 1, 2))
    assert {"uri": NOTES} == heard(client, UPDATED)
    home.add("later", node("b", 1, 2))
    while heard(client, UPDATED) != {"uri": resources.uri_of("later")}:
        pass

    told = {message["params"]["uri"] for message in client.seen if message.get("method") == UPDATED}
    assert {NOTES, resources.uri_of("later")} == told


def test_a_subscription_to_something_else_is_refused(wire: Callable[..., Wire]) -> None:
    client = wire()

    error = client.request("resources/subscribe", {"uri": "file:///etc/passwd"})["error"]

    assert -32602 == error["code"]
    assert "is not the URI of a map" in error["message"]


@pytest.mark.long
def test_a_client_of_the_latest_protocol_listens_to_a_stream(home: Home) -> None:
    async def work(client: Client) -> list[ServerEvent]:
        found: list[ServerEvent] = []
        async with client.listen(resources_list_changed=True, resource_subscriptions=[NOTES]) as changes:
            home.add("more", node("a", 1, 2))
            async for event in changes:
                found.append(event)
                if isinstance(event, ResourceUpdated):
                    break
                home.add("notes", node("b", 1, 2))
        return found

    found = home.ask(work)

    assert ResourcesListChanged() in found
    assert ResourceUpdated(uri=NOTES) == found[-1]


def test_an_open_stream_does_not_delay_the_end_of_the_server(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(hands=None)
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bare", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    number = client.start("subscriptions/listen", {"notifications": {"resourcesListChanged": True}, "_meta": meta})
    heard(client, "notifications/subscriptions/acknowledged")

    code, rest = client.leave()

    assert 0 == code
    assert [number] == [answer["id"] for answer in map(json.loads, rest.splitlines()) if "result" in answer]


@pytest.mark.long
def test_ids_are_completed(home: Home) -> None:
    for name in ("my_notes", "book"):
        home.add(name, node("a", 1, 2))

    async def work(client: Client) -> list[str]:
        template = (await client.list_resource_templates()).resource_templates[0].uri_template
        reference = ResourceTemplateReference(uri=template)
        done = await client.complete(reference, {"name": "resource_id", "value": "NOTES"})
        return done.completion.values

    assert ["notes", "my_notes"] == home.ask(work)


@given(st.lists(st.text("abA_", min_size=1), unique=True, max_size=150), st.text("abA_", max_size=2))
def test_completions_contain_the_text_and_begin_with_it_first(ids: list[str], text: str) -> None:
    reference = ResourceTemplateReference(uri=resources.TEMPLATE)
    params = CompleteRequestParams(ref=reference, argument=CompletionArgument(name="resource_id", value=text))

    found = completed(sorted(ids), params).completion

    wanted = [name for name in sorted(ids) if text.casefold() in name.casefold()]
    assert (len(wanted), len(wanted) > COMPLETIONS_LIMIT) == (found.total, found.has_more)
    assert (
        sorted(wanted, key=lambda name: not name.casefold().startswith(text.casefold()))[:COMPLETIONS_LIMIT]
        == found.values
    )


def test_nothing_else_is_completed() -> None:
    for reference, name in (
        (ResourceTemplateReference(uri="citekit://other/{resource_id}"), "resource_id"),
        (ResourceTemplateReference(uri=resources.TEMPLATE), "other"),
        (PromptReference(name="guardian_owl"), "resource_id"),
    ):
        params = CompleteRequestParams(ref=reference, argument=CompletionArgument(name=name, value=""))
        assert [] == completed(["notes"], params).completion.values
