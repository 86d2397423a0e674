"""`python -m benchmarks.structure [CORPUS] [area ...] [--page]`: every area in turn; `--page` writes the page of the docs."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from benchmarks.structure import AREAS
from benchmarks.structure.page import write


def main() -> None:
    """Measure the areas that are named, or all."""
    given = [each for each in sys.argv[1:] if not each.startswith("-")]
    asked = [each for each in given if each in AREAS] or [*AREAS]
    [folder, *_] = [each for each in given if each not in AREAS] or [os.environ.get("CITEKIT_CORPUS") or ".corpus/dev"]
    corpus = Path(folder).expanduser()
    for area in asked:
        importlib.import_module(f"benchmarks.structure.{area}").run(corpus if corpus.is_dir() else None)
    if "--page" in sys.argv:
        write()


if __name__ == "__main__":
    main()
