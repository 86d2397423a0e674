"""Starts Python programs quickly: each is a process of its own, forked from one that has imported the package already.

A server takes more than a second of CPU time to import what it needs, and the tests start about a hundred. Tests of what
a start itself does (what it imports, how much memory it takes, what its process ID is) start `sys.executable` instead.
"""

from __future__ import annotations

import atexit
import marshal
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
RELAY = Path(__file__).with_name("relay.py")

PATIENCE = 120.0
"""Seconds after which a run is killed."""


def python(*arguments: str) -> list[str]:
    """The command line that does what `python *arguments` does, with the package imported already.

    `arguments` begin with `-m` and a module, with `-c` and code, or with a script. The process that the command line
    starts passes its standard streams, folder, environment, exit code and most signals on; it is not the program itself.
    Where that cannot be done, this is the plain command line.
    """
    if not hasattr(os, "pidfd_open"):
        return [sys.executable, *arguments]
    return [sys.executable, "-I", "-S", str(RELAY), str(_template()), *arguments]


def run(
    arguments: Sequence[str], here: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    """What `python *arguments` gives in that folder, with nothing on standard input; None where a fork cannot do it.

    Raises `subprocess.TimeoutExpired`.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    with (
        socket.socket(socket.AF_UNIX) as connection,
        Path(os.devnull).open("rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        connection.connect(str(_template()))
        connection.settimeout(PATIENCE)
        request = marshal.dumps((list(arguments), str(here), dict(environment)))
        streams = [stream.fileno() for stream in (nothing, out, err)]
        socket.send_fds(connection, [len(request).to_bytes(4, "big")], streams)
        connection.sendall(request)
        if not int.from_bytes(connection.recv(4), "big"):
            return None
        try:
            code = int.from_bytes(connection.recv(4), "big", signed=True)
        except TimeoutError as error:
            raise subprocess.TimeoutExpired(["python", *arguments], PATIENCE) from error
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess(["python", *arguments], code, out.read(), err.read())


@cache
def _template() -> Path:
    """The socket of the process that is forked from. It is started when it is first needed and ends with this process."""
    folder = tempfile.TemporaryDirectory(prefix="warm-start-")
    address = Path(folder.name) / "socket"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.warm_start.template", str(address)],
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def stop() -> None:
        with suppress(OSError):
            process.communicate()
        folder.cleanup()

    atexit.register(stop)
    assert process.stdout is not None
    process.stdout.readline()  # it says that it listens
    return address
