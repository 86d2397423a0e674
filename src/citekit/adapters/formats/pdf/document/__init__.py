"""Reads PDF files and their pages: text, bookmarks, links, page labels, images, and hidden text."""
