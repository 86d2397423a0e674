"""EPUB books, and the outline that all reflowable books share."""
