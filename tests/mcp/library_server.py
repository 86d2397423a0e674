"""A server process over a library in memory, whose embedder takes its time. Run with the home and the steps."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from citekit.adapters.search.embedders.hashing import HashingEmbedder
from citekit.domain.library.vectors import Vector
from citekit.domain.progress import Progress, silent
from citekit.entrypoints.mcp.server import serve
from tests.mcp.library_home import LibraryHome

STEP = 0.02


@frozen
class SlowEmbedder(HashingEmbedder):
    log: Path = Path()
    steps: int = 0

    def documents(self, texts: Sequence[str], progress: Progress = silent) -> Sequence[Vector]:
        self.say("begun")
        try:
            for step in range(self.steps):
                time.sleep(STEP)
                progress(step, self.steps, "embedding")
        except BaseException as error:
            self.say(type(error).__name__)
            raise
        self.say("done")
        return super().documents(texts)

    def say(self, word: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{word}\n")


def main() -> None:
    folder, steps = Path(sys.argv[1]), int(sys.argv[2])
    home = LibraryHome.made(folder)
    serve(home.without(embedder=SlowEmbedder(log=folder / "log.txt", steps=steps)).app())


if __name__ == "__main__":
    main()
