"""Runs the command-line program with `python -m citekit`."""

from __future__ import annotations

from citekit.entrypoints.cli import main

if __name__ == "__main__":
    main()
