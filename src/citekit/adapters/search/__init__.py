"""Search: node search, vector indexes, embedders, and sentence splitters."""
