"""SQLite files: caches that may be lost at any time."""
