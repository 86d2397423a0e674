"""Caches in SQLite files. The files can be deleted at any time."""
