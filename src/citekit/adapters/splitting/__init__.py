"""Sentence splitters, one module for each library that finds them."""
