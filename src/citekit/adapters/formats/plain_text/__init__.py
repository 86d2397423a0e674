"""The adapter for plain text files."""
