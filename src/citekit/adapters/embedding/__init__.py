"""Embedders: texts to vectors, one module for each model or service."""
