"""The adapter for subtitle files (SubRip, WebVTT, and others)."""
