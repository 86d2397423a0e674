"""Handles the markup of books, mail, and HTML files."""
