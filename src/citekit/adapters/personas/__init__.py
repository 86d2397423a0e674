"""Guardians and patterns, and where they come from."""
