"""Handles markup languages that people write by hand: AsciiDoc, LaTeX, Org, and reStructuredText."""
