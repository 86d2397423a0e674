"""The peer of the PDF benchmark: pymupdf4llm 2.0 with its layout model, in an environment of its own, its results kept."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.places import BENCH

NAME = "pymupdf4llm 2.0"
REQUIREMENTS = ("pymupdf==2.0.*", "pymupdf4llm==2.0.*")
FOLDER = BENCH / "peer-pdf"
PYTHON = FOLDER / "bin" / "python"
RESULTS = BENCH / "structure-pdf" / "peer"
_BUILT = FOLDER / "built"
_SCRIPT = Path(__file__).with_name("pdf_peer_script.py")
_PATIENCE = 3600.0


@functools.cache
def missing() -> str | None:
    """Builds the environment where that was not done yet; None, or why there is none."""
    if _BUILT.exists():
        return None
    try:
        print(f"building an environment of {NAME} in {FOLDER}", file=sys.stderr, flush=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True, capture_output=True)
        install: list[str | Path] = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "-q", *REQUIREMENTS]
        subprocess.run(install, check=True, capture_output=True, text=True, timeout=600)
        subprocess.run([PYTHON, "-c", "import pymupdf4llm"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", None) or error).strip().splitlines()
        return f"{NAME} could not be installed: {said[-1] if said else type(error).__name__}"
    _BUILT.touch()
    return None


def headings(path: Path, pages: Sequence[int]) -> dict[str, Any] | None:
    """`nodes` as (level, title, page), `seconds` of the processor and `pages`; None where the peer fails on the file.

    `path` is named by the digest of its bytes, which with the pages is the key of what is kept.
    """
    kept = RESULTS / f"{path.stem}-{len(pages)}-{pages[-1]}.json"
    if not kept.exists():
        if missing() is not None:
            return None
        RESULTS.mkdir(parents=True, exist_ok=True)
        command: list[str | Path] = [PYTHON, _SCRIPT, path, ",".join(map(str, pages))]
        try:
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)
        except (OSError, subprocess.SubprocessError):
            return None
        kept.write_text(done.stdout.strip().splitlines()[-1], "utf-8")
    found: dict[str, Any] = json.loads(kept.read_text("utf-8"))
    return found
