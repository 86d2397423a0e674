"""Marked-up text: what EPUB, HTML, FB2, MOBI and DOCX have in common."""
