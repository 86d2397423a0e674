"""Verification of quotes: normal forms, search, and differences."""
