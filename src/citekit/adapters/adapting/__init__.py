"""Adapters of `MapAdapter`: maps made of the structure that other programs found."""
