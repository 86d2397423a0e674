"""File formats, one package per format: detection, outline, text and evidence of that format."""
