"""File formats, one package per format. Each package detects, outlines, measures, reads, and extracts its format."""
