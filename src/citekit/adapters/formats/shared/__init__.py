"""Code that several formats share."""
