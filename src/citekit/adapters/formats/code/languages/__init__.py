"""What the outliner needs to know about each language, in families with similar syntax."""
