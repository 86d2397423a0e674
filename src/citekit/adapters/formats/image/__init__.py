"""Handles images: outlines their regions, and extracts crops in the format of the source."""
