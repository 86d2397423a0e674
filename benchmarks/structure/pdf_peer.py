"""The peer of the PDF benchmark: pymupdf4llm 2.0 with its layout model, in an environment of its own, its results kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environments import Environment
from benchmarks.places import BENCH

NAME = "pymupdf4llm 2.0"
ENVIRONMENT = Environment(NAME, ("pymupdf==2.0.*", "pymupdf4llm==2.0.*"), "peer-pdf", "import pymupdf4llm")
RESULTS = BENCH / "structure-pdf" / "peer"
_SCRIPT = Path(__file__).with_name("pdf_peer_script.py")
_PATIENCE = 3600.0


def headings(path: Path, pages: Sequence[int]) -> dict[str, Any] | None:
    """`nodes` as (level, title, page), `seconds` of the processor and `pages`; None where the peer fails on the file.

    `path` is named by the digest of its bytes, which with the pages is the key of what is kept.
    """
    kept = RESULTS / f"{path.stem}-{len(pages)}-{pages[-1]}.json"
    if not kept.exists():
        if ENVIRONMENT.missing() is not None:
            return None
        RESULTS.mkdir(parents=True, exist_ok=True)
        command: list[str | Path] = [ENVIRONMENT.python, _SCRIPT, path, ",".join(map(str, pages))]
        try:
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)
        except (OSError, subprocess.SubprocessError):
            return None
        kept.write_text(done.stdout.strip().splitlines()[-1], "utf-8")
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found
