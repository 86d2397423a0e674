"""The answers of the library as plain data, shared by the command line and the MCP server."""
