"""Rerankers: the features of the ranking, a cross-encoder in a folder, and a rerank server."""
