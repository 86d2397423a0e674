"""The MCP server over Streamable HTTP."""
