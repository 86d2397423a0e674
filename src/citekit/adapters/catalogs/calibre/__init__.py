"""Reads a Calibre library in its own folder without changing it."""
