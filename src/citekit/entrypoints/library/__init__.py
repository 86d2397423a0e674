"""Creates the results of the library tools as plain data, for both the command line and the MCP server."""
