"""Vector indexes: in memory, embedded, and on a Qdrant server."""
