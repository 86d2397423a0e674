"""PyMuPDF, and the checks that a document must pass before PyMuPDF works on it."""
