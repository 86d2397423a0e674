"""Defines the ports: one Protocol per file. The docstrings state what an implementation must guarantee."""
