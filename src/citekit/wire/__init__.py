"""Conversion between objects and plain data: strict writing, lenient reading, and errors as `path: reason`."""
