"""Mappers, which create the map of a file."""
