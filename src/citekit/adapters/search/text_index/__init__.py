"""The index of the text of mapped files."""
