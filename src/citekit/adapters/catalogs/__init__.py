"""Catalogs of books: a Calibre library, a plain folder."""
