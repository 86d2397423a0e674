"""Starts `citekit` quickly and often: each run is a process of its own, forked from one that has imported the program.

It has the arguments, environment, folder, exit code and standard streams of a real start. What it does not show is what a
start imports, and what `python` itself reads from the environment.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from attrs import define, field

ROOT = Path(__file__).parents[2]

PATIENCE = 120.0
"""Seconds after which a run is killed."""


SERVICES = {"GEMINI_API_KEY": "google.genai", "OPENAI_API_KEY": "openai", "QDRANT_URL": "qdrant_client"}
"""What is imported before the first run for which a variable is set: each takes about a second."""


@define
class Forking:
    """A process that waits for command lines and forks for each, one at a time."""

    _process: subprocess.Popen[str]
    _output: tempfile.TemporaryDirectory[str]
    _free: threading.Lock = field(factory=threading.Lock)

    @classmethod
    def started(cls, environment: Mapping[str, str]) -> Self:
        """It ends with this process."""
        output = tempfile.TemporaryDirectory(prefix="citekit-cli-")
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.forking", output.name],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        made = cls(process, output)
        atexit.register(made._stop)
        return made

    def run(
        self, arguments: Sequence[str], here: Path, environment: Mapping[str, str]
    ) -> tuple[int, bytes, bytes] | None:
        """The exit code, standard output and standard error; None if another thread's run is not over yet."""
        if not self._free.acquire(blocking=False):
            return None
        try:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            request = {"arguments": list(arguments), "here": str(here), "environment": dict(environment)}
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            code = json.loads(self._process.stdout.readline())
            out, err = (Path(self._output.name, name).read_bytes() for name in ("out", "err"))
        finally:
            self._free.release()
        if code is None:
            raise subprocess.TimeoutExpired(["citekit", *arguments], PATIENCE, out, err)
        return code, out, err

    def _stop(self) -> None:
        with suppress(OSError):
            self._process.communicate()
        self._output.cleanup()


def serve(folder: Path) -> None:
    """Read requests from standard input, answer each with the exit code of its run."""
    from tests.faults.starting import ended, import_everything, settle

    import_everything()
    for name in ("tokenizers", "safetensors.numpy", "sentencex", "wordllama.config"):
        with suppress(ImportError):
            importlib.import_module(name)
    del sys.path[0]  # the folder of the tests, which `python -m` put there
    settle()
    for line in sys.stdin:
        request = json.loads(line)
        if needed := [module for name, module in SERVICES.items() if request["environment"].get(name)]:
            for module in needed:
                with suppress(ImportError):
                    importlib.import_module(module)
            settle()
        process = os.fork()
        if process == 0:
            _become(request, folder)
        print(json.dumps(ended(process, PATIENCE)), flush=True)


def _become(request: dict[str, Any], folder: Path) -> None:
    """Run the program and end as it does on its own: with the interpreter, which closes what is still open.

    Raises `SystemExit` with its exit code.
    """
    from tests.faults.starting import main, take_streams

    take_streams(folder)
    os.chdir(request["here"])
    sys.path.insert(0, request["here"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["citekit", *request["arguments"]]
    raise SystemExit(main(request["arguments"]))


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
