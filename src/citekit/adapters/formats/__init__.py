"""File formats, one package for each format or group of similar formats."""
