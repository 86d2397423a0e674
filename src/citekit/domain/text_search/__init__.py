"""Searches the text of mapped files for words, phrases, and patterns."""
