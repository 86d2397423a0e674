"""The process that imports the package once and is then forked for each program that a test starts (see `command`)."""

from __future__ import annotations

import importlib
import marshal
import os
import runpy
import selectors
import signal
import socket
import sys
import types
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from attrs import define, field, frozen

HANDLED = {"PYTHONPATH", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE"}
"""The variables that only Python itself reads and that may differ: the path is set, and all that starts here uses UTF-8."""


@frozen
class Request:
    """A program to run: the arguments after `python`, the folder, the environment, and the standard streams."""

    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    streams: Sequence[int]

    @classmethod
    def read(cls, connection: socket.socket) -> Request:
        """The request that a connection begins with. Raises `EOFError` where the other side is gone."""
        size, streams, _, _ = socket.recv_fds(connection, 4, 3)
        left = int.from_bytes(size, "big")
        parts = []
        while left:
            part = connection.recv(left)
            if not part:
                raise EOFError
            parts.append(part)
            left -= len(part)
        return cls(*marshal.loads(b"".join(parts)), streams)

    @property
    def is_possible(self) -> bool:
        """Whether a fork does the same as a start: Python options and variables are read only when Python starts."""
        same = _python_variables(self.environment) == _python_variables(os.environ)
        first = self.arguments[0] if self.arguments else "-"
        return same and len(self.streams) == 3 and (first in {"-m", "-c"} or not first.startswith("-"))

    def run(self) -> None:
        """Run the program in this process, as `python` does."""
        for standard, given in enumerate(self.streams):
            os.dup2(given, standard)
            os.close(given)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.path[:0] = filter(None, self.environment.get("PYTHONPATH", "").split(os.pathsep))
        match self.arguments:
            case ["-m", module, *rest]:
                sys.path.insert(0, self.folder)
                sys.argv = [module, *rest]
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case ["-c", code, *rest]:
                sys.path.insert(0, "")
                sys.argv = ["-c", *rest]
                program = sys.modules["__main__"] = types.ModuleType("__main__")
                exec(compile(code, "<string>", "exec"), program.__dict__)
            case [script, *rest]:
                sys.path.insert(0, str(Path(script).parent.resolve()))
                sys.argv = [script, *rest]
                runpy.run_path(script, run_name="__main__")


def _python_variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("PYTHON") and name not in HANDLED}


@define
class Template:
    """Waits for requests, forks for each, and tells each relay how its program ended."""

    listener: socket.socket
    _events: selectors.BaseSelector = field(factory=selectors.DefaultSelector)
    _running: dict[int, tuple[int, socket.socket]] = field(factory=dict)
    """By process ID, the file descriptor that tells its end, and the connection of its relay."""

    def wait(self) -> Request | None:
        """A request, in the fork that is to run it; None, in the process that was started, when no more will come."""
        self._events.register(self.listener, selectors.EVENT_READ, ("new", 0))
        self._events.register(0, selectors.EVENT_READ, ("end", 0))
        while True:
            for key, _ in self._events.select():
                what, process = key.data
                if what == "new":
                    request = self._fork()
                    if request is not None:
                        return request
                elif what == "end":
                    for each in list(self._running):
                        self._kill(each)
                    return None
                elif what == "ended" and process in self._running:
                    self._tell(process)
                elif what == "left" and process in self._running:
                    self._kill(process)

    def _fork(self) -> Request | None:
        connection, _ = self.listener.accept()
        try:
            request = Request.read(connection)
        except (EOFError, OSError):
            connection.close()
            return None
        process = os.fork() if request.is_possible else 0
        if request.is_possible and process == 0:
            os.setsid()
            connection.close()
            self._leave()
            return request
        for stream in request.streams:
            os.close(stream)
        with suppress(OSError):
            connection.sendall(process.to_bytes(4, "big"))
        if not process:
            connection.close()
            return None
        watched = os.pidfd_open(process)
        self._running[process] = watched, connection
        self._events.register(watched, selectors.EVENT_READ, ("ended", process))
        self._events.register(connection, selectors.EVENT_READ, ("left", process))
        return None

    def _leave(self) -> None:
        """Close, in a fork, what belongs to the template."""
        self.listener.close()
        for watched, connection in self._running.values():
            os.close(watched)
            connection.close()
        self._events.close()

    def _kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        self._tell(process)

    def _tell(self, process: int) -> None:
        watched, connection = self._running.pop(process)
        self._events.unregister(watched)
        self._events.unregister(connection)
        os.close(watched)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with suppress(OSError):
            connection.sendall(code.to_bytes(4, "big", signed=True))
        connection.close()


def prepare() -> None:
    """Import what programs import on first use; nothing is opened."""
    from tests.faults.starting import import_everything, settle

    import_everything()
    for name in (
        "citekit.entrypoints.mcp.session",
        "citekit.entrypoints.mcp.library.toolset",
        "citekit.sdk",
        "tests.mcp.library_home",
    ):
        with suppress(ImportError):
            importlib.import_module(name)
    settle()


def main() -> NoReturn:
    """Run the requests until standard input ends; in a fork, run the request and end as `python` does."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(64)
    prepare()
    del sys.path[0]  # the folder of the tests, which `python -m` put there
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    request = Template(listener).wait()
    if request is not None:
        request.run()
    raise SystemExit(0)


if __name__ == "__main__":
    main()
