"""Files that are mapped and cut."""
