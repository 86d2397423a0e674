"""What the library answers as plain data, the same on the command line and over MCP."""
