"""Objects to and from plain data: strict writing, lenient reading, errors as `path: reason`."""
