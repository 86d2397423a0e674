"""Markup handling that EPUB, HTML, FB2, MOBI, and DOCX share."""
