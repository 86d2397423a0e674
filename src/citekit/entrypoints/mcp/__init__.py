"""The MCP server: four tools and the maps as resources, over standard input and output."""
