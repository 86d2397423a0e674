"""Use cases of a library of books: ingest them, ask them, take them out again."""
