"""Derives the outline of a PDF from its bookmarks, tags, printed table of contents, or heading styles."""
