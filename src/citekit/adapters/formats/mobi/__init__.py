"""Mobipocket and Kindle books."""
