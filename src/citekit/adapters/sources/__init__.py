"""Source files: access, digests, permissions, and search."""
