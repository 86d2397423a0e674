"""Implements the MCP server over standard input and output: its core tools, library tools, and resources."""
