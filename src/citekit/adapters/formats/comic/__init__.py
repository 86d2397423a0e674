"""Handles comics: ZIP archives of images (CBZ)."""
