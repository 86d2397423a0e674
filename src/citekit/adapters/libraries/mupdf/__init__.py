"""The adapter for PyMuPDF, and the checks that a document must pass before PyMuPDF processes it."""
