"""Mappers: files to maps."""
