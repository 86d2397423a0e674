"""HTML files, and the safe evidence of XML files."""
