"""Access to source files: permissions, digests, and searching for moved files."""
