"""Plain text files."""
