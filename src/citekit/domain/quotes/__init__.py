"""Verifies quotes: normalizes texts, searches for a quote, and names the differences."""
