"""Indexes of the text of mapped files."""
