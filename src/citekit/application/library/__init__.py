"""Use cases of a library of books: ingest books, answer questions from them, remove them."""
