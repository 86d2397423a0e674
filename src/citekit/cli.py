"""Runs the command line as `python -m citekit.cli`, the command of versions before 1.0."""

from __future__ import annotations

from citekit.entrypoints.cli import main

if __name__ == "__main__":
    main()
