"""The outline of a PDF: bookmarks, tags, the printed table of contents, or headings by their style."""
