"""Log messages reach a client that asks for them, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.mcp.server_process import Wire

pytestmark = pytest.mark.long


def connect(client: Wire) -> dict[str, Any]:
    """Initialize a session of a client that has roots; return the capabilities of the server."""
    capabilities = {"roots": {"listChanged": True}}
    hello = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "b", "version": "1"}}
    answer: dict[str, Any] = client.request("initialize", hello)["result"]["capabilities"]
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return answer


def fail_to_report_roots(client: Wire) -> None:
    """Call a tool, and answer the server's question for roots with an error, which it logs as a warning."""
    number = client.start("tools/call", {"name": "listResources", "arguments": {}})
    while (question := client.read()).get("method") != "roots/list":
        pass
    error = {"code": -32000, "message": "no roots in /home/somebody/secret.txt"}
    client.send({"jsonrpc": "2.0", "id": question["id"], "error": error})
    client.answer(number)
    client.request("ping")


@pytest.mark.parametrize(("level", "is_heard"), [("warning", True), ("debug", True), ("error", False), (None, False)])
def test_messages_of_the_level_and_above_reach_the_client(
    wire: Callable[..., Wire], level: str | None, is_heard: bool
) -> None:
    client = wire(hands=None)
    assert {} == connect(client)["logging"]
    if level:
        assert {} == client.request("logging/setLevel", {"level": level})["result"]

    fail_to_report_roots(client)

    heard = [each["params"] for each in client.seen if each.get("method") == "notifications/message"]
    warnings = [each for each in heard if each["level"] == "warning"]
    assert is_heard is bool(warnings)
    for each in warnings:
        assert "citekit.entrypoints.mcp.roots" == each["logger"]
        assert "The client did not report its roots" in each["data"]
        assert "/home/somebody" not in each["data"]


def test_an_unknown_level_is_refused(wire: Callable[..., Wire]) -> None:
    assert -32602 == wire().request("logging/setLevel", {"level": "loud"})["error"]["code"]
