"""A server whose extractor takes its time, reports it, and prints where it must not. Run with the home and the steps."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from citekit.container import bootstrap
from citekit.domain.evidence import Extraction, ExtractorIdentity, Form, Options
from citekit.domain.formats import Format
from citekit.domain.locations import Location
from citekit.domain.progress import Progress, silent
from citekit.domain.source import Source
from citekit.entrypoints.mcp.server import serve

STEP = 0.02


class SlowExtractor:
    def __init__(self, log: Path, steps: int) -> None:
        self.log, self.steps = log, steps

    @property
    def identity(self) -> ExtractorIdentity:
        return ExtractorIdentity("slow", "1")

    def forms(self, format: Format, location: Location) -> Sequence[Form]:
        return [Form.NATIVE]

    def extract(
        self, source: Source, location: Location, options: Options, target: Path, progress: Progress = silent
    ) -> Extraction:
        self.say("begun")
        print("not a message")
        os.write(1, b"not a message\n")
        ctypes.CDLL(None).puts(b"not a message")
        subprocess.run(["echo", "not a message"], check=True)
        target.write_bytes(b"evidence")
        try:
            for step in range(self.steps):
                time.sleep(STEP)
                progress(step + 1, self.steps, "cutting")
        except BaseException as error:
            self.say(type(error).__name__)
            raise
        self.say("done")
        return Extraction(suffix=".txt", media_type="text/plain", extent=location, notes=("Cut slowly.",))

    def say(self, word: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{word}\n")


def main() -> None:
    home, steps = Path(sys.argv[1]), int(sys.argv[2])
    serve(bootstrap(home=home, extractors=[SlowExtractor(home / "log.txt", steps)]))


if __name__ == "__main__":
    main()
