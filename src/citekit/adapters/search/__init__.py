"""Search: the node search index, vector indexes, embedders, and sentence splitters."""
