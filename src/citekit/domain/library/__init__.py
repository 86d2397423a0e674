"""The library: books, chunks, passages, and their ranking."""
