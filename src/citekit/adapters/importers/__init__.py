"""Importers, which create maps from the structure that other programs have found."""
