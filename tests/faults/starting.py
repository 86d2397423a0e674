"""Runs the real program many times: each in a process of its own, forked from one that has imported everything already."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from attrs import define, frozen

ROOT = Path(__file__).parents[2]

PATIENCE = 60.0
"""Seconds after which a run counts as blocked."""


@frozen
class Ended:
    """How a run ended: `code` is its exit code, minus the signal that killed it, or None where it was blocked."""

    code: int | None
    out: str
    err: str

    @property
    def plain(self) -> Any:
        """What it printed as JSON. Raises `ValueError`."""
        return json.loads(self.out)


@define
class Programs:
    """A process that waits for command lines of `citekit`, and forks for each."""

    _process: subprocess.Popen[str]
    _folder: Path

    @classmethod
    def start(cls, folder: Path, environment: Mapping[str, str]) -> Self:
        """What the runs print is kept in `folder`."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.starting", str(folder)],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return cls(process, folder)

    def run(self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, user: int = 0) -> Ended:
        """One run of `citekit` with these arguments, as the user of that number where that may be."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"arguments": list(arguments), "environment": dict(environment or {}), "user": user}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())
        out, err = ((self._folder / name).read_text("utf-8", "replace") for name in ("out", "err"))
        return Ended(code, out, err)

    def stop(self) -> None:
        """End the waiting process."""
        self._process.communicate()


def serve(folder: Path) -> None:
    """Read requests from standard input, answer each with the exit code of its run."""
    import_everything()
    count_steps_of_children()
    settle()
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            _become(request, folder)
        print(json.dumps(ended(process, PATIENCE)), flush=True)


LIBRARIES = (
    "PIL.Image",
    "lxml.etree",
    "numpy",
    "pymupdf",
    "qdrant_edge",
    "safetensors.numpy",
    "sentencex",
    "sqlite3",
    "tokenizers",
    "wordllama.config",
)
"""What functions of the package import on first use."""


def import_everything() -> None:
    """What the program imports on first use; nothing is opened."""
    import importlib
    import pkgutil
    from contextlib import suppress

    import citekit

    modules = [each.name for each in pkgutil.walk_packages(citekit.__path__, "citekit.")]
    for name in (*modules, *LIBRARIES):
        if not name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(name)


def count_steps_of_children() -> None:
    """Pass the variables of the counted steps on to the sandboxed children: their steps are steps, too."""
    from citekit.adapters.system import child_process

    child_process._KEPT = (*child_process._KEPT, "LD_PRELOAD", "FAULTS_CONTROL", "FAULTS_TRACE")


def settle() -> None:
    """Leave what was imported out of garbage collection: else each run that collects garbage copies all that memory."""
    import gc

    gc.collect()
    gc.freeze()


def _become(request: dict[str, Any], folder: Path) -> None:
    """Never returns: runs the program to its end, as it would on its own, in a process group of its own."""
    code = 70
    try:
        take_streams(folder)
        if request["user"]:
            _be(request["user"])
        os.environ.update(request["environment"])
        sys.argv = ["citekit", *request["arguments"]]
        code = main(request["arguments"])
    finally:
        os._exit(code)


def take_streams(folder: Path) -> None:
    """Make this process the first of a session, with nothing to read, that prints into the files `out` and `err` of a folder."""
    os.setsid()
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(file, number)
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)


def _be(user: int) -> None:
    """That user, who may write nothing of ours; read anything, since Python may lie where only root looks (capabilities(7))."""
    import ctypes
    import struct

    keep_capabilities, ambient, raise_ambient, read_search = 8, 47, 2, 2
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(keep_capabilities, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    mask = 1 << read_search
    if system.capset(struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", mask, mask, mask, 0, 0, 0)):
        raise OSError(ctypes.get_errno(), "capset")
    system.prctl(ambient, raise_ambient, read_search, 0, 0)


def main(arguments: Sequence[str]) -> int:
    """Run the program as its start does; its exit code."""
    import atexit
    import threading
    import traceback

    from citekit.entrypoints.cli.program import run

    try:
        code = run(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 70
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def ended(process: int, patience: float) -> int | None:
    """Its exit code, or minus the signal that killed it; None where it had to be killed, because it was blocked."""
    there = os.pidfd_open(process)
    try:
        in_time = select.select([there], [], [], patience)[0]
    finally:
        os.close(there)
    if not in_time:
        os.killpg(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code if in_time else None


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
