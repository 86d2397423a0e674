"""The process that imports the package once and is then forked for each program that a test starts (see `command`)."""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import marshal
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NoReturn

from attrs import define, field, frozen

from tests.faults.starting import import_everything, settle

HANDLED = {"PYTHONPATH", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE"}
"""The variables that only Python itself reads and that may differ: the path is set, and all that starts here uses UTF-8."""


FLUSH_FAILED = 120
"""Python's exit code where standard output or error could not be written at the end."""

SERVICES = {"GEMINI_API_KEY": "google.genai", "OPENAI_API_KEY": "openai", "QDRANT_URL": "qdrant_client"}
"""What is imported before the first run for which a variable is set: each takes about a second."""


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
        arguments, folder, environment = marshal.loads(b"".join(parts))
        return cls(arguments, folder, environment, streams)

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
        _reopen_standard_streams()
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


def _reopen_standard_streams() -> None:
    """Make new `sys.stdin`, `sys.stdout` and `sys.stderr`: those of the template know whether *its* streams can seek."""
    sys.stdin = _standard(0, "rb", "surrogateescape")
    sys.stdout = _standard(1, "wb", "surrogateescape")
    sys.stderr = _standard(2, "wb", "backslashreplace")
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))


def _standard(number: int, mode: Literal["rb", "wb"], errors: str) -> io.TextIOWrapper:
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    binary = open(number, mode, 0 if at_once and mode == "wb" else -1, closefd=False)  # noqa: SIM115
    by_line = not at_once and (number == 2 or binary.isatty())
    newline = "\n" if mode == "wb" else None
    return io.TextIOWrapper(binary, "utf-8", errors, newline, line_buffering=by_line, write_through=at_once)


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
        prepare_services(request.environment)
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
    """Import what programs import on first use, and what servers of the tests import; nothing is opened."""
    import_everything()
    importlib.import_module("tests.mcp.library_home")
    settle()


def prepare_services(environment: Mapping[str, str]) -> None:
    """Import the packages of the services whose variables are set."""
    needed = [module for name, module in SERVICES.items() if environment.get(name) and module not in sys.modules]
    for module in needed:
        with suppress(ImportError):
            importlib.import_module(module)
    if needed:
        settle()


def end_with(program: Callable[[], None]) -> NoReturn:
    """Run a program and end this process as Python ends, but leave to the system what the template imported.

    To take all modules apart, as Python does, takes longer than most programs run here: the fork has to copy their memory.
    """
    code = _code_of(program)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # closes what is open in cycles
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or FLUSH_FAILED
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _code_of(program: Callable[[], None]) -> int:
    try:
        program()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def main() -> None:
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
        end_with(request.run)


if __name__ == "__main__":
    main()
