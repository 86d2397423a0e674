"""Handles Word documents (DOCX)."""
