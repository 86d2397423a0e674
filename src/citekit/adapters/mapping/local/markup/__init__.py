"""Outliners of markup written by hand: AsciiDoc, Org, LaTeX."""
