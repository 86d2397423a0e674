"""Handles Markdown files."""
