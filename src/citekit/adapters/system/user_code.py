"""Runs code that the user names, keeps its output out of stdout, and abandons it if it hangs."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from attrs import define, field

from citekit.domain.errors import CiteKitError, FaultyAnswer, RequestRefused
from citekit.domain.progress import Progress
from citekit.domain.resource_map import ResourceMap
from citekit.wire import maps

POLL = 0.05
"""Polling interval for the result and for cancellation, in seconds."""


class TookTooLongError(Exception):
    """The code exceeded its time limit and was abandoned."""


class PrintsAside:
    """Redirects output of the user's code to stderr, to keep it out of the server protocol on stdout.

    All threads share `sys.stdout`, so the first to enter replaces it and the last to leave restores it. It stays
    replaced while an abandoned thread is running.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._given_up: set[threading.Thread] = set()
        self._stdout: TextIO = sys.stdout

    def __enter__(self) -> None:
        with self._lock:
            if sys.stdout is not self:
                self._stdout, sys.stdout = sys.stdout, self  # other attributes are those of stdout
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            self._given_up = {thread for thread in self._given_up if thread.is_alive()}
            if not self._inside and not self._given_up and sys.stdout is self:
                sys.stdout = self._stdout

    def __getattr__(self, name: str) -> Any:
        aside = self._inside or threading.current_thread() in self._given_up
        return getattr(sys.stderr if aside else self._stdout, name)

    def give_up(self, thread: threading.Thread) -> None:
        """Record a thread that was abandoned."""
        with self._lock:
            self._given_up.add(thread)


PRINTS_ASIDE = PrintsAside()


@define
class _Outcome:
    answer: object = None
    error: BaseException | None = None
    done: threading.Event = field(factory=threading.Event)


class _ReadOnlyLoader(SourceFileLoader):
    """A loader that writes no compiled copy next to the user's file."""

    def set_data(self, *_: object, **__: object) -> None:
        """Write nothing."""


def call(work: Callable[[], object], *, timeout: float | None, progress: Progress, message: str) -> object:
    """Return the result of `work`, awaited if it is awaitable.

    Raise the errors of `work` and `progress`, or `TookTooLongError` after `timeout` seconds (None: no limit). A daemon
    thread runs the work, because Python cannot stop code that hangs.
    """
    outcome = _Outcome()
    thread = threading.Thread(target=_run, args=(work, outcome), name="citekit-user-code", daemon=True)
    with PRINTS_ASIDE:
        thread.start()
        try:
            _wait(outcome.done, timeout, progress, message)
        except BaseException:
            PRINTS_ASIDE.give_up(thread)
            raise
    if outcome.error is not None:
        raise outcome.error
    return outcome.answer


def _wait(done: threading.Event, timeout: float | None, progress: Progress, message: str) -> None:
    waited = 0.0
    while not done.wait(POLL):
        waited += POLL
        progress(waited, timeout, message)
        if timeout is not None and waited >= timeout:
            raise TookTooLongError


def _run(work: Callable[[], object], outcome: _Outcome) -> None:
    try:
        answer = work()
        outcome.answer = asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer
    except BaseException as error:
        outcome.error = error
    finally:
        outcome.done.set()


async def _awaited(answer: Any) -> object:
    return await answer


def load_module(path: Path, kind: str) -> tuple[ModuleType, bytes]:
    """Load and run the Python file at `path`, which the user must have named. Return the module and the bytes of the
    file.

    `kind` describes it in errors. Raise `RequestRefused` if the file cannot be read or run.
    """
    try:
        code = path.read_bytes()
        name = f"citekit_{kind}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path, loader=_ReadOnlyLoader(name, str(path)))
        if spec is None or spec.loader is None:
            raise RequestRefused(f"{path} is not a Python file that can be loaded.")
        module = importlib.util.module_from_spec(spec)
        with PRINTS_ASIDE:
            spec.loader.exec_module(module)
    except CiteKitError:
        raise
    except (Exception, SystemExit) as error:
        raise RequestRefused(f"The {kind} {path} could not be loaded: {described(error)}.") from error
    return module, code


def described(error: BaseException) -> str:
    """Return the type and, if there is one, the message of an exception that the user's code raised, without periods at
    the end.
    """
    return f"{type(error).__name__}: {error}".removesuffix(": ").rstrip(".")


def plain_map(answer: object, name: str) -> Mapping[str, object]:
    """Return `answer`, the result of the user's code `name`, as plain data.

    It may be a domain map, an object with a method `model_dump`, or a mapping. Raise `FaultyAnswer` for anything else.
    """
    if isinstance(answer, ResourceMap):
        return maps.to_plain_map(answer)
    dump = getattr(answer, "model_dump", None)
    plain = dump(mode="json") if callable(dump) else answer
    if not isinstance(plain, Mapping):
        raise FaultyAnswer(f"The result of {name} is not a map", [f"$: its type is {type(answer).__name__}"])
    return plain
