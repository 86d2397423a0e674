"""Importers: maps from the structure that other programs found."""
