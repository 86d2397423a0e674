"""Searches for nodes by the words of their titles and summaries."""
