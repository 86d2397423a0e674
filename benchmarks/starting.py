"""Start: what a command costs before it does anything, against an empty Python and against the library it is made of."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable

from benchmarks.measuring import compare, report


def command(*arguments: str) -> Callable[[], object]:
    """Runs Python with these arguments to its end."""
    return lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=True)


def main() -> None:
    """The tables."""
    with tempfile.TemporaryDirectory() as home:
        contestants = {
            "python -c 'import click'": command("-c", "import click"),
            "python -c pass": command("-c", "pass"),
            "import citekit": command("-c", "import citekit"),
            "citekit --help": command("-m", "citekit", "--help"),
            "citekit list (empty home)": command("-m", "citekit", "--home", home, "list"),
        }
        report("Starting: spawn to exit", {"command": compare(contestants, 11)})


if __name__ == "__main__":
    main()
