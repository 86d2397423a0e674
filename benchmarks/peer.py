"""The peer: citekit 0.2.1, in an environment of its own that is built once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.client import Client
from benchmarks.environments import Environment
from benchmarks.measuring import Own

NAME = "citekit 0.2.1"
_CUTTING = Path(__file__).with_name("peer_cutting.py")


def _link_ffmpeg() -> None:
    import imageio_ffmpeg

    link = PYTHON.parent / "ffmpeg"
    link.unlink(missing_ok=True)
    link.symlink_to(imageio_ffmpeg.get_ffmpeg_exe())


ENVIRONMENT = Environment(
    NAME, ("citekit==0.2.1", "mcp<2", "pymupdf<2"), "peer", "import citekit.mcp_server", _link_ffmpeg
)
PYTHON = ENVIRONMENT.python


def missing() -> str | None:
    """Why there is no peer; None where there is one."""
    return ENVIRONMENT.missing()


def note() -> str:
    """The sentence below a table whose columns of the peer are empty, or that says who it is."""
    reason = missing()
    return f"peer: {NAME}" if reason is None else f"The peer's cells are empty: {reason}."


def environment() -> dict[str, str]:
    """Variables for its processes; it spawns a program named ffmpeg, which is that of imageio-ffmpeg."""
    return {"PATH": f"{PYTHON.parent}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONPATH": ""}


def serving(home: Path) -> Client | None:
    """Its server on a home, None where it is missing or does not start."""
    if missing() is not None:
        return None
    try:
        return Client([PYTHON, "-m", "citekit.mcp_server"], cwd=home, **environment())
    except (OSError, EOFError):
        return None


class Cutting:
    """A process of it that resolves nodes and times each itself: imports are paid before, as in a warm program."""

    def __init__(self, home: Path) -> None:
        self._process = subprocess.Popen(
            [PYTHON, _CUTTING],
            cwd=home,
            env={**os.environ, **environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def resolve(self, resource_id: str, node_id: str) -> tuple[float, int]:
        """Seconds and bytes of the file. Raises `ValueError` with what it objected to."""
        answer = self._asked(resource_id, node_id)
        return float(answer["seconds"]), int(answer["bytes"])

    def again(self, resource_id: str, node_id: str) -> Own:
        """The seconds, as a contestant says them."""
        return Own(self.resolve(resource_id, node_id)[0])

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _asked(self, resource_id: str, node_id: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([resource_id, node_id]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        while line and not line.startswith("{"):  # some libraries print
            line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line or '{"error": "it ended"}')
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer


def cutting(home: Path, folder: Path, stack: ExitStack) -> Cutting | None:
    """A process of it on the maps of a home, in a folder of its own; None where it is missing, or cannot cut the first."""
    if missing() is not None:
        return None
    shutil.copytree(home / ".resource_maps", folder / ".resource_maps")
    process = Cutting(folder)
    stack.callback(process.close)
    try:
        process.resolve("source", "n0")
    except ValueError:
        return None
    return process
