"""The command line: one module for every command or close group of them, imported when it is called."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from citekit.entrypoints.cli.program import run

    sys.exit(run(sys.argv[1:]))
