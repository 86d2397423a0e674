"""The peer for scene cuts: PySceneDetect, in an environment of its own that is built once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.environments import Environment

NAME = "scenedetect 0.7.2"
ENVIRONMENT = Environment(NAME, ("scenedetect-headless==0.7.2",), "peer-scenes", "import scenedetect")
DETECTORS = ("adaptive", "content")
"""Its two detectors for cuts, each with its defaults."""

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


def note() -> str:
    """The sentence below a table whose columns of the peer are missing, or that says who it is."""
    reason = ENVIRONMENT.missing()
    return f"peer: {NAME}, its detectors with their defaults" if reason is None else f"There is no peer: {reason}."


def measurer(detector: str) -> Callable[[Path], Any]:
    """What measures one film with one of its detectors, in a process of its own."""

    def measure(path: Path) -> Any:
        from benchmarks.structure.scenes import Measured

        command: list[str | Path] = [ENVIRONMENT.python, "-c", _SCRIPT, path, detector]
        alone = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=alone)
        return Measured(**json.loads(done.stdout.strip().splitlines()[-1]))

    return measure
