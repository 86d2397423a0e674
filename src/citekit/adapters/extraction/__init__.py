"""Extractors: parts of files to evidence."""
