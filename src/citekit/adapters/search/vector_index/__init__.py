"""Vector indexes, with one module for each engine."""
