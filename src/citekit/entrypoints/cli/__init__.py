"""Implements the command line.

The module of a command is imported when the command is used.
"""

from __future__ import annotations

import gc
import sys

NEW_OBJECTS = 20_000
"""The number of new objects that triggers a garbage collection. Python's default triggers many at the start, which free
nothing.
"""


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    gc.set_threshold(NEW_OBJECTS)
    from citekit.entrypoints.cli.program import run

    code = run(sys.argv[1:])
    # Skip the final garbage collection, which takes a seventh of the time of `--help`. If the container was loaded,
    # the collection is needed, because it closes open stores.
    if "citekit.container.container" not in sys.modules:
        gc.freeze()
    sys.exit(code)
