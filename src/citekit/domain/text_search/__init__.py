"""Search for words, phrases, and patterns in the text of mapped files."""
