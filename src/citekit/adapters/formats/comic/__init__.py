"""Comics as ZIP archives of images (CBZ)."""
