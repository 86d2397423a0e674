"""`python -m citekit.cli`, as it was called before 1.0."""

from __future__ import annotations

from citekit.entrypoints.cli import main

if __name__ == "__main__":
    main()
