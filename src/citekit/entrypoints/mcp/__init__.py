"""Implements the MCP server (its tools, resources, and prompts) and its transport over standard input and output."""
