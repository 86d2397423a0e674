"""Catalogs of books: a Calibre library or a plain folder."""
