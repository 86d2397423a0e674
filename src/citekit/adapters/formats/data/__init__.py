"""Handles data files: CSV, JSON, JSON Lines, YAML, TOML, INI, XML, logs, and Jupyter notebooks."""
