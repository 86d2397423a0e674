"""Outlines video and audio files."""
