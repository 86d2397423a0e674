"""Guardians and patterns, and the files that define them."""
