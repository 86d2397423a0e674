"""A process that searches a home through the SDK and times itself: its memory is that of searching alone.

python -m benchmarks.searching_process HOME < QUESTIONS
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.places import ROOT


class Searching:
    """The process, from outside."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.searching_process", str(home)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def search(self, words: str) -> float:
        """Milliseconds of a search."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def memory(self) -> float:
        """Megabytes that it has now."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def __enter__(self) -> Searching:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def main() -> None:
    """The process, from inside."""
    from citekit import CiteKit

    kit = CiteKit(sys.argv[1])
    for line in sys.stdin:
        words = json.loads(line)
        began = time.perf_counter()
        kit.search(words)
        print(json.dumps(1000 * (time.perf_counter() - began)), flush=True)


if __name__ == "__main__":
    main()
