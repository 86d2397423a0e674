"""The command line: one module for every command or close group of them, imported when it is called."""

from __future__ import annotations

import gc
import sys

NEW_OBJECTS = 20_000
"""Objects that may be made before those among them that nobody can reach any more are looked for; Python's own rule, 700,
looks a hundred times for them among the modules that a start brings, and finds none."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(NEW_OBJECTS)
    from citekit.entrypoints.cli.program import run

    code = run(sys.argv[1:])
    if (
        "citekit.container.container" not in sys.modules
    ):  # with it, stores may be open, which Python closes as it looks through
        gc.freeze()  # all objects once more at its end; without, that is a seventh of the whole time of `--help`
    sys.exit(code)
