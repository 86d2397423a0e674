"""The tables of the languages, in families that look alike."""
