"""Outlines source code from the syntax tree of the program."""
