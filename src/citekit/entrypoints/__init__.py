"""Contains the ways to use CiteKit: the command line, the MCP server (also over HTTP), the viewer, and the SDK."""
