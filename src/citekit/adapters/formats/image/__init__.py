"""Images: their regions, and crops in the format of the source."""
