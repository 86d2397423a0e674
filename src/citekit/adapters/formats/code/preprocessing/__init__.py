"""Rewrites programs that a grammar cannot parse, so that it can. All text keeps its line."""
