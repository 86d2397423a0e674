"""Handles Mobipocket and Kindle books."""
