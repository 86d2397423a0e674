"""The adapter for presentations (PPTX files)."""
