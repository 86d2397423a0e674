"""Implements the MCP tools of the library, and offers the guardians as prompts."""
