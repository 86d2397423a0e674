"""Implements the MCP server and its transport over standard input and output."""
