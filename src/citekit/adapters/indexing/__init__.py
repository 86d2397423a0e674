"""Vector indexes, one module for each engine."""
