"""Subtitle files (SubRip, WebVTT, and others)."""
