"""Adapters for clusters, whose workers map files on several machines."""
