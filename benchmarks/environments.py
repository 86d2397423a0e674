"""Environments of their own for the programs that are compared with ours, each built once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen

from benchmarks.places import BENCH


@frozen
class Environment:
    """The program `name` with its `requirements`, in `folder` below `.bench`.

    `trial` is a statement that shows that it works; `after` is done once everything is installed; `patience` is in seconds.
    """

    name: str
    requirements: tuple[str, ...]
    folder: str
    trial: str
    after: Callable[[], object] = lambda: None
    patience: float = 600.0
    _said: list[str | None] = field(factory=list, init=False)

    @property
    def place(self) -> Path:
        """The environment's folder."""
        return BENCH / self.folder

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.place / "bin" / "python"

    def missing(self) -> str | None:
        """Builds the environment where that was not done yet; None, or why there is none."""
        if not self._said:
            self._said.append(None if self._built.exists() else self._fault())
        return self._said[0]

    @property
    def _built(self) -> Path:
        return self.place / "built"

    def _fault(self) -> str | None:
        try:
            print(f"building an environment of {self.name} in {self.place}", file=sys.stderr, flush=True)
            self._build()
        except (OSError, subprocess.SubprocessError) as error:
            said = str(getattr(error, "stderr", None) or error).strip().splitlines()
            return f"{self.name} could not be installed: {said[-1] if said else type(error).__name__}"
        self._built.touch()
        return None

    def _build(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", self.place], check=True, capture_output=True)
        pip: list[str | Path] = [self.python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, *self.requirements], check=True, capture_output=True, text=True, timeout=self.patience)
        subprocess.run([self.python, "-c", self.trial], check=True, capture_output=True, text=True)
        self.after()
