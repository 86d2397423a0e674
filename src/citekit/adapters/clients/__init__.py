"""The settings of programs that use MCP servers."""
