"""Markup languages written by hand: AsciiDoc, LaTeX, Org, reStructuredText."""
