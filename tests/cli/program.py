"""The real command line, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from attrs import frozen

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
    """`citekit` in the folder `here`, whose home is that folder."""

    here: Path

    def __call__(self, *arguments: str, user: int | None = None, **environment: str) -> Answer:
        """Run it, as the system's user `user` where one is given."""
        done = subprocess.run(
            [sys.executable, "-m", "citekit", *arguments],
            cwd=self.here,
            env=plain_environment(**environment),
            capture_output=True,
            timeout=120,
            user=user,
            stdin=subprocess.DEVNULL,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

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


def plain_environment(**more: str) -> dict[str, str]:
    """The environment without anything that CiteKit or a terminal would read."""
    unwanted = ("CITEKIT_", "NO_COLOR", "FORCE_COLOR", "PYTHONDEVMODE", "LANG", "LC_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {**kept, "PYTHONUTF8": "1", **more}
