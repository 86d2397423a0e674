"""Handles HTML files, and extracts lines of XML files as evidence that is safe to open."""
