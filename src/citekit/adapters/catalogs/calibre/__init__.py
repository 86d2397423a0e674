"""A Calibre library, which is read in place and never changed."""
