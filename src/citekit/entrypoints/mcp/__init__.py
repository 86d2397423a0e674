"""The MCP server: five tools and the maps as resources, over standard input and output."""
