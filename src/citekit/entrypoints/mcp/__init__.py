"""The MCP server: the core tools, the library tools, and maps as resources, over standard input and output."""
