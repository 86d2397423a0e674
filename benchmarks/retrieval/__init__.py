"""How well search finds what it should: `python -m benchmarks.retrieval CORPUS_DIR`."""
