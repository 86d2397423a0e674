"""Handles data files: CSV, JSON, YAML, TOML, INI, XML, logs, Jupyter notebooks, BibTeX, and iCalendar."""
