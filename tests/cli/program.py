"""The real command line, in a process of its own."""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from citekit.entrypoints.cli.program import run
from tests.warm_start import command

READ = ("CITEKIT_", "CALIBRE_", "GEMINI_", "GOOGLE_API_KEY", "OPENAI_", "QDRANT_", "PYTHONPATH")
"""How the names of variables begin that are read when a command runs, and of what a fork can set as a start does."""

NO_DATA = "/nonexistent"
"""A data folder without a personal home, so that no test uses that of the person who runs the tests."""

CODE = '''def first():
    """Begins."""
    return 1


class Second:
    """Follows."""

    def third(self):
        return 2
'''


@frozen
class Answer:
    """What one call gave."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


@frozen
class Cli:
    """`citekit` in the folder `here`, whose home is that folder.

    Files are parsed in its own process, which is quicker, where `CITEKIT_PARSERS` says nothing else. Its processes are forked from
    one that has imported the program, unless `starts` is true or a variable is set that others read when they are imported.
    """

    here: Path
    starts: bool = False

    def __call__(self, *arguments: str, **environment: str) -> Answer:
        """Run it."""
        return self._run(arguments, environment, None)

    def as_anybody(self, *arguments: str, **environment: str) -> Answer:
        """Run it with the rights of anybody, also where the tests run as root. Skips where that cannot be done."""
        try:
            return self._run(arguments, environment, _bind_by_permissions if os.getuid() == 0 else None)
        except subprocess.SubprocessError:
            pytest.skip("root's own rights cannot be laid down here")

    def _run(
        self, arguments: tuple[str, ...], environment: dict[str, str], before: Callable[[], None] | None
    ) -> Answer:
        variables = plain_environment(**{"CITEKIT_PARSERS": "inline", **environment})
        if not (self.starts or before or any(not name.startswith(READ) for name in environment)):
            forked = command.run(["-m", "citekit", *arguments], self.here, variables)
            if forked is not None:
                return Answer(forked.returncode, forked.stdout.decode(), forked.stderr.decode())
        done = subprocess.run(
            [sys.executable, "-m", "citekit", *arguments],
            cwd=self.here,
            env=variables,
            capture_output=True,
            timeout=120,
            preexec_fn=before,
            stdin=subprocess.DEVNULL,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def within(self, *arguments: str) -> Answer:
        """Run it inside this process, which is quicker; for calls that only need words and a code."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.here), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        return Answer(code, out.getvalue(), err.getvalue())

    def json(self, *arguments: str) -> Any:
        """The document of a call that succeeds."""
        answer = self(*arguments, "--json")
        assert (answer.code, answer.err) == (0, ""), answer.err
        return answer.document

    def write(self, name: str, content: str | bytes = CODE) -> Path:
        """A file in the folder."""
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def everything(self) -> set[str]:
        """The paths of all files and folders in the folder."""
        return {str(path.relative_to(self.here)) for path in self.here.rglob("*")}


def _bind_by_permissions() -> None:
    """Drop root's rights to pass over the permissions of files (capabilities(7): CAP_DAC_OVERRIDE, _READ_SEARCH)."""
    drop_from_bounding_set = 24  # PR_CAPBSET_DROP of prctl(2)
    library = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):
        if library.prctl(drop_from_bounding_set, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def plain_environment(**more: str) -> dict[str, str]:
    """The environment without anything that CiteKit or a terminal would read."""
    unwanted = ("CITEKIT_", "XDG_DATA_HOME", "NO_COLOR", "FORCE_COLOR", "PYTHONDEVMODE", "LANG", "LC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {**kept, "PYTHONUTF8": "1", "XDG_DATA_HOME": NO_DATA, **more}
