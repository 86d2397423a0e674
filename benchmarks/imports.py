"""What a program imports, as `python -X importtime` tells it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence

from attrs import frozen

LATER = frozenset(
    {
        "mcp", "openai", "google.genai", "pymupdf", "fitz", "av", "numpy", "PIL", "lxml", "tree_sitter", "qdrant_client",
        "qdrant_edge", "onnxruntime", "tokenizers", "wordllama", "ffmpeg", "pydantic_ai",
    }
)  # fmt: skip
"""Modules that cost much, and that no listing, no help and no look into a map needs."""

_LINE = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s*([\w.]+)$", re.MULTILINE)


@frozen
class Imported:
    """Full names of modules, and the milliseconds that they took by themselves, all together."""

    names: frozenset[str]
    milliseconds: float

    @property
    def tops(self) -> frozenset[str]:
        """The packages, and those inside a namespace package, that they belong to."""
        return frozenset(
            {*(name.split(".")[0] for name in self.names), *(".".join(name.split(".")[:2]) for name in self.names)}
        )


def imported(arguments: Sequence[str]) -> Imported:
    """What Python imports for these arguments, with no input."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    found = _LINE.findall(done.stderr)
    return Imported(frozenset(name for _, name in found), sum(int(micro) for micro, _ in found) / 1000)
