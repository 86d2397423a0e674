"""The least that is an MCP server: one tool that does nothing, on the standard input and output of the SDK."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


async def list_tools(_: Any, __: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="empty", input_schema={"type": "object", "properties": {}})])


async def call_tool(_: Any, __: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="done")])


async def main() -> None:
    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
