"""Where callers come in: the command line, the MCP server, the SDK."""
