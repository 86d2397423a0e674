"""Measures whether a question finds the page that answers it, and fits the weights of the ranking."""
