"""Measures what an agent pays for an answer: calls, characters, and whether it sees the right page."""
