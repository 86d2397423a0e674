"""SQLite files used as caches, which can be deleted at any time."""
