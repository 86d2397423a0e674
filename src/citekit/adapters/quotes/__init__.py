"""Extracts the texts of a file in which quotes are searched for, and caches them."""
