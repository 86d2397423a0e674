"""Catalogs of books: a Calibre library, a plain folder, or records in memory."""
