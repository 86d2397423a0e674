"""Defines the library: books, chunks, passages, and the ranking of search results."""
