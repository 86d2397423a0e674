"""Indexes by which documents and their pages are ranked."""
