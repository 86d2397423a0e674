"""Probes: what a media file holds."""
