"""Outlines video and audio files by chapters, topics, scenes, or silences."""
