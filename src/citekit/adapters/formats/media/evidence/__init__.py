"""Extracts clips of video and audio, and still images of video."""
