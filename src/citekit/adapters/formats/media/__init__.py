"""Handles video and audio files."""
