"""Contains the entry points: the command line, the MCP server, and the SDK."""
