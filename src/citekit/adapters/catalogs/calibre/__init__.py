"""Reads a Calibre library in its own folder without ever changing it."""
