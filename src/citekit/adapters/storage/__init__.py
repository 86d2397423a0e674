"""Stores: maps, evidence, and where evidence is laid out."""
