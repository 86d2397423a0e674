"""The structure that maps find, held against what people wrote."""

AREAS = ("pdf", "kinds", "epub", "code", "texts", "images", "scans", "scenes", "speech")
"""The modules that measure one each, in the order of the tables."""
