"""Clips and stills of video and audio."""
