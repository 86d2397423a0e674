"""Handles FictionBook 2 books (FB2)."""
