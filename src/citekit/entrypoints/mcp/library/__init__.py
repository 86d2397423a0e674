"""Implements the MCP tools of the library, with guardians as prompts."""
