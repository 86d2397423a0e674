"""The outliners of Office files."""
