"""The MCP tools of the library, and the guardians as prompts."""
