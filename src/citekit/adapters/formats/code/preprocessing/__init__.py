"""Rewrites programs that a grammar cannot parse, without moving a line."""
