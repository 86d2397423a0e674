"""Embedders, which convert texts to vectors, with one module for each model or service."""
