"""EPUB books, and the outliner shared by all reflowable books."""
