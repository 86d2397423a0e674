"""Embedders: texts to vectors, one module per model or service."""
