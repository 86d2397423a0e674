"""Vector indexes, one module per engine."""
