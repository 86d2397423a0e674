"""FictionBook 2 books."""
