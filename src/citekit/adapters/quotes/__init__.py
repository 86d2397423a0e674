"""Quotable texts of a file, in which quotes are searched, and their cache."""
