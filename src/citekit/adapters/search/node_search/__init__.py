"""Searches for nodes of maps by the words of their titles and summaries."""
