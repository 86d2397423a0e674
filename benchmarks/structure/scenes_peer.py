"""The peer for scene cuts: PySceneDetect, in an environment of its own that is built once."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.places import BENCH

NAME = "scenedetect 0.7.2"
REQUIREMENTS = ("scenedetect-headless==0.7.2",)
FOLDER = BENCH / "peer-scenes"
PYTHON = FOLDER / "bin" / "python"
DETECTORS = ("adaptive", "content")
"""Its two detectors for cuts, each with its defaults."""

_BUILT = FOLDER / "built"
_SCRIPT = """
import json, resource, sys, time
import cv2
cv2.setNumThreads(1)
from scenedetect import AdaptiveDetector, ContentDetector, detect
began = time.process_time()
found = detect(sys.argv[1], {"adaptive": AdaptiveDetector, "content": ContentDetector}[sys.argv[2]](), start_in_scene=True)
seconds = time.process_time() - began
def at(code):
    return getattr(code, "seconds", None) if not callable(getattr(code, "get_seconds", None)) else code.get_seconds()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print("\\n" + json.dumps({"times": [at(start) for start, _ in found[1:]], "seconds": seconds, "peak": peak,
                  "duration": at(found[-1][1])}))
"""


@functools.cache
def missing() -> str | None:
    """Builds the environment where that was not done yet; None, or why there is none."""
    if _BUILT.exists():
        return None
    try:
        print(f"building an environment of {NAME} in {FOLDER}", file=sys.stderr, flush=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True, capture_output=True)
        pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *REQUIREMENTS]
        subprocess.run(pip, check=True, capture_output=True, text=True, timeout=240)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", None) or error).strip().splitlines()
        return f"{NAME} could not be installed: {said[-1] if said else type(error).__name__}"
    _BUILT.touch()
    return None


def note() -> str:
    """The sentence below a table whose columns of the peer are missing, or that says who it is."""
    reason = missing()
    return f"peer: {NAME}, its detectors with their defaults" if reason is None else f"There is no peer: {reason}."


def measurer(detector: str) -> Callable[[Path], Any]:
    """What measures one film with one of its detectors, in a process of its own."""

    def measure(path: Path) -> Any:
        from benchmarks.structure.scenes import Measured

        done = subprocess.run([PYTHON, "-c", _SCRIPT, str(path), detector], check=True, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": ""})  # fmt: skip
        return Measured(**json.loads(done.stdout.strip().splitlines()[-1]))

    return measure
