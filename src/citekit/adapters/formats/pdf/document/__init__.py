"""Facts about a PDF file and its pages: text, bookmarks, links, labels, images, and hidden text."""
