"""A Calibre library, read in place and never written to."""
