"""Contains the ways to use CiteKit: the command line, the MCP server, the viewer, and the SDK."""
