"""Extracts pages of a PDF, or a region of one page, as a small PDF, an image, or text."""
