"""File formats, one package per format.

Each package detects files of its format, outlines them, measures their extents, reads their text, and extracts evidence
from them.
"""
