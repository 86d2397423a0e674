"""Handles EPUB books, and contains the outliner for all reflowable books."""
