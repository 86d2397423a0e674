"""Starts the server of an entry in the settings of an MCP client, as the client would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

TIMEOUT = 60
"""Seconds after which a server that does not answer is killed. On a busy computer, starting takes about 10."""

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "citekit-doctor", "version": "1"},
    },
}


@frozen
class Launch:
    """A program with its arguments, and the variables (name, value) that are added to the environment."""

    words: Sequence[str] = field(converter=tuple[str, ...])
    variables: Sequence[tuple[str, str]] = ()

    @property
    def is_this_installation(self) -> bool:
        """Whether this runs CiteKit's MCP server with the current Python, and sets no variable but `CITEKIT_ROOTS`.

        Other programs can change settings files, so CiteKit runs no other command from them.
        """
        own = all(name == _SETTING for name, _ in self.variables)
        return own and self.words[0] == sys.executable and self.words[1:4] == ("-m", "citekit", "serve")


_SETTING = "CITEKIT_ROOTS"
"""The variable that `citekit connect` writes."""


def start_problem(launch: Launch) -> str | None:
    """Return why the program does not answer as an MCP server, or None if it does.

    The program has ended when this returns.
    """
    try:
        done = subprocess.run(
            launch.words,
            input=json.dumps(_INITIALIZE) + "\n",
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **dict(launch.variables)},
            cwd=Path.home(),
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer and exit within {TIMEOUT} seconds"
    except (OSError, ValueError) as error:
        return f"{launch.words[0]} cannot be started ({error})"
    if _is_answer(done.stdout.partition("\n")[0]):
        return None
    said = done.stderr.strip().splitlines()
    return f"it exited with the message: {said[-1]}" if said else "it exited without a valid answer"


def _is_answer(line: str) -> bool:
    try:
        answer = json.loads(line)
    except ValueError:
        return False
    return isinstance(answer, dict) and isinstance(answer.get("result"), dict)
