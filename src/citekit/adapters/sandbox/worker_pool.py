"""Manages the pool of worker processes."""

from __future__ import annotations

import os
import signal
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from citekit.adapters.sandbox.budget import Allowance, Budget
from citekit.adapters.sandbox.lanes import Lanes, Turn
from citekit.adapters.sandbox.refusals import Refusals, Work
from citekit.adapters.sandbox.worker import FILE_MEMORY
from citekit.adapters.sandbox.worker_request import (
    LOOK,
    NONSENSE,
    TIME,
    Conversation,
    CrashedError,
    DiedError,
    DisplacedError,
    Request,
    SpentError,
    spent,
)
from citekit.adapters.system.child_process import ChildProcess, ChildProcessEndedError
from citekit.adapters.system.file_state import FileState
from citekit.domain.errors import CiteKitError, SourceUnsupported
from citekit.domain.progress import Progress, silent
from citekit.wire.errors import CAUSE_LIMIT, from_plain_error
from citekit.wire.worker_protocol import as_message

_CRASHES = frozenset(
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS")
    if hasattr(signal, name)
)
"""Signals of crashes. SIGKILL and others come from outside the program."""

_SLOW_FILES = 256
"""Maximum number of files that are remembered because the last request about them took much processor time."""


class ParserBrokenError(RuntimeError):
    """An unexpected exception in a worker, caused by a bug in CiteKit. The message is the traceback."""


@frozen
class Limits:
    """The limits for workers and their requests.

    A worker is killed after `seconds` without progress, and writes files of at most `output` bytes. `allowance` limits
    the processor time and the memory of each request (None: no limit). After `slow_after` seconds of processor time, a
    request counts as slow.
    """

    seconds: float
    output: int
    allowance: Allowance | None = None
    slow_after: float = 0.5


@define
class _Parser:
    child: ChildProcess
    last: str = ""
    state: object = None


@define(eq=False)
class WorkerPool:
    """A pool of workers for at most `at_most` quick requests and `slow_at_most` slow ones. Several threads can use it.

    `hello` returns the first message to each worker. When the value of `state` changes, idle workers are replaced.
    """

    _command: Callable[[], list[str]]
    _hello: Callable[[], Mapping[str, Any]]
    limits: Limits
    at_most: int = 4
    slow_at_most: int = 8
    state: Callable[[], object] = lambda: None
    refusals: Refusals = field(factory=Refusals, repr=False)
    _idle: list[_Parser] = field(factory=list, init=False)
    _slow_files: OrderedDict[str, None] = field(factory=OrderedDict, init=False, repr=False)
    _lanes: Lanes = field(init=False, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        _pools[id(self)] = self

    @_lanes.default
    def _empty_lanes(self) -> Lanes:
        allowance = self.limits.allowance
        most = float("inf") if allowance is None else allowance.most
        return Lanes(self.at_most, self.slow_at_most, most * self.at_most, 0.0 if allowance is None else most)

    def ask(
        self,
        what: str,
        path: Path,
        arguments: Mapping[str, Any],
        progress: Progress = silent,
        failure: type[CiteKitError] = SourceUnsupported,
    ) -> Any:
        """Return a worker's answer to the request `what` about the file at `path`.

        Work that exceeded its budget or crashed a worker before is refused immediately. Errors:

        - `failure`, if the work is refused or exceeds the budget, or if the worker cannot be started, dies on the file,
          must be killed, or gives an invalid or too long answer.
        - The `CiteKitError` that the work raises in the worker.
        - The exception that `progress` raises; the worker is then killed.
        - `ParserBrokenError`, for other exceptions in the worker.
        """
        status = _status_of(path)
        budget = self._budget(path, status, arguments)
        state, work = None if status is None else FileState.of(status), Work.of(what, arguments)
        before = state and budget and self.refusals.reason(state, work, budget, str(path))
        if before:
            raise failure(f"{path.name} cannot be read: {before}.")
        message = as_message({"do": what, "output": self.limits.output, **_plain_budget(budget), **arguments})
        try:
            said = self._answered(self._request(path, message, budget, progress))
        except (SpentError, CrashedError) as error:
            reason = spent(error.what, budget, self.limits.allowance) if isinstance(error, SpentError) else str(error)
            if state is not None and budget is not None:
                was_busy = isinstance(error, SpentError) and error.was_busy
                self.refusals.add(state, work, budget, reason, was_busy=was_busy)
            self.warm()  # start a replacement now, so that the next file does not wait for it
            raise failure(f"{path.name} cannot be read: {reason}.") from error
        except DiedError as died:
            raise failure(f"{path.name} cannot be read: {died}.") from died
        match said:
            case {"done": done}:
                return done
            case {"short": str(short)}:
                raise failure(f"{path.name} cannot be processed: {short[:CAUSE_LIMIT]}.")
            case {"broken": str(broken)}:
                raise ParserBrokenError(broken)
            case {"failed": {**failed}}:
                raise from_plain_error(failed)
        raise failure(f"{path.name} cannot be read: {NONSENSE}.")

    def _request(self, path: Path, message: bytes, budget: Budget | None, progress: Progress) -> Request:
        return Request(str(path), message, budget, self.limits.seconds, progress, self.limits.slow_after)

    def _budget(self, path: Path, status: os.stat_result | None, arguments: Mapping[str, Any]) -> Budget | None:
        allowance = self.limits.allowance
        if allowance is None:
            return None
        return allowance.budget(path, 0 if status is None else status.st_size, arguments)

    def warm(self) -> None:
        """Start a worker in advance, unless one is idle or the quick lane is full."""
        turn = self._lanes.enter(0, LOOK)
        if turn is None:
            return
        try:
            with suppress(DiedError):
                self._rest(self._rested("") or _Parser(self._started(), "", self.state()))
        finally:
            self._lanes.leave(turn)

    @property
    def at_work(self) -> int:
        """The number of requests that are running."""
        return self._lanes.taken

    def close(self) -> None:
        """Stop all idle workers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for parser in idle:
            parser.child.kill()

    def forget(self) -> None:
        """Reset the pool after a fork: the new process has neither the workers nor the other threads of its parent."""
        self._idle, self._lanes, self._lock = [], self._empty_lanes(), threading.Lock()
        self.refusals = Refusals(self.refusals.index, self.refusals.now, self.refusals.home_option)

    def _answered(self, request: Request) -> Mapping[str, Any]:
        """Send the request to a worker and return the answer.

        The request counts as slow if the last one about the same file took much processor time.
        """
        is_slow = bool(self.slow_at_most) and request.path in self._slow_files
        try:
            return self._in_turn(request, self._turn(request, is_slow=is_slow))
        except DisplacedError:
            return self._in_turn(request, self._turn(request, is_slow=True))

    def _turn(self, request: Request, *, is_slow: bool = False) -> Turn:
        while (turn := self._lanes.enter(request.memory, LOOK, is_slow=is_slow)) is None:
            request.progress(0.0, None, "")
        return turn

    def _in_turn(self, request: Request, turn: Turn) -> Mapping[str, Any]:
        try:
            rested = self._rested(request.path, is_slow=turn.is_slow)
            parser = rested or _Parser(self._started(), request.path, self.state())
            try:
                said = self._said(parser, request, turn, is_fresh=rested is None)
            except BaseException:
                parser.child.kill()
                raise
            self._rest(parser)
            return said
        finally:
            self._lanes.leave(turn)
            self._remember(request.path, is_slow=turn.is_expensive)

    def _remember(self, path: str, *, is_slow: bool) -> None:
        """Record whether the last request about the file at `path` took much processor time."""
        with self._lock:
            self._slow_files.pop(path, None)
            if is_slow:
                self._slow_files[path] = None
                while len(self._slow_files) > _SLOW_FILES:
                    self._slow_files.popitem(last=False)

    def _rested(self, path: str, *, is_slow: bool = False) -> _Parser | None:
        """Remove an idle worker from the pool and return it; None if there is none, or if its state is outdated.

        A worker that was last used for `path` is preferred. Otherwise, a slow request does not get the only idle
        worker.
        """
        state = self.state()
        with self._lock:
            spare = self._idle[-1] if len(self._idle) > is_slow else None
            parser = next((each for each in self._idle if each.last == path), spare)
            if parser is not None:
                self._idle.remove(parser)
        if parser is not None and parser.state != state:
            parser.child.kill()
            return None
        if parser is not None:
            parser.last = path
        return parser

    def _rest(self, parser: _Parser) -> None:
        """Put the worker back in the pool, or kill it if there are enough idle workers or its priority cannot be
        restored.
        """
        with self._lock:
            keeps = len(self._idle) < self.at_most and parser.child.restore_priority()
            if keeps:
                self._idle.append(parser)
        if not keeps:
            parser.child.kill()

    def _started(self) -> ChildProcess:
        try:
            child = ChildProcess.start(self._command())
            child.send(as_message(self._hello()))
        except (OSError, ChildProcessEndedError) as error:
            raise DiedError(f"the worker process cannot be started ({error})") from error
        return child

    def _said(self, parser: _Parser, request: Request, turn: Turn, *, is_fresh: bool) -> Mapping[str, Any]:
        conversation = Conversation(parser.child, request, self._lanes, turn)
        try:
            said = conversation.answer()
            if said.get("spent") == FILE_MEMORY or (is_fresh and "spent" in said):
                raise SpentError(said["spent"])
            if is_fresh or not {"spent", "short", "broken"} & set(said):
                return said
            parser.child.kill()
        except ChildProcessEndedError as ended:
            if ended.status == -signal.SIGXCPU:
                raise SpentError(TIME, was_busy=conversation.was_busy) from ended
            if is_fresh:
                if -ended.status in _CRASHES:
                    raise CrashedError(f"it crashed the worker process, which {ended.how}") from ended
                raise DiedError(f"the worker process {ended.how}") from ended
        # The worker may have exited, or earlier files used it up. Only a fresh worker is conclusive for this file.
        parser.child, parser.state = self._started(), self.state()
        return self._said(parser, request, turn, is_fresh=True)


_pools: weakref.WeakValueDictionary[int, WorkerPool] = weakref.WeakValueDictionary()


def _forget_all() -> None:
    for pool in list(_pools.values()):
        pool.forget()


if hasattr(os, "register_at_fork"):  # after the fork handler of the workers themselves
    os.register_at_fork(after_in_child=_forget_all)


def _plain_budget(budget: Budget | None) -> dict[str, float]:
    return {} if budget is None else {"seconds": budget.seconds, "memory": budget.memory}


def _status_of(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - looked at for every request
    except OSError:
        return None
