"""Readers: books to chapters of text."""
