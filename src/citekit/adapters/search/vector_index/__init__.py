"""Vector indexes: embedded in the home, and on a Qdrant server."""
