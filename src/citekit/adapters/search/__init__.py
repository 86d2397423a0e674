"""Search: indexes of nodes, texts, rankings, and vectors; embedders, rerankers, and sentence splitters."""
