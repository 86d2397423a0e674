"""Shares a resource that only one process at a time may open, such as a shard of the embedded vector index.

The resource stays open between calls. A process opens it while holding a lock file, which the system releases when the
process dies. Another process that wants it touches a request file. The holder then waits for running calls, closes the
resource, and releases the lock. A request counts only if it is later than the start of the lease, so requests of dead
processes have no effect.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Generic, TypeVar

from attrs import define, field

from citekit.adapters.system.file_locks import Locks, log_once
from citekit.adapters.system.home_files import open_file, read_file
from citekit.domain.errors import HomeUnwritable, IndexUnavailable

LOOK = 0.2
"""Interval between two checks of the request file, in seconds, while the resource is open."""

LEAST = 0.2
"""Minimum duration of a lease in seconds. It is longer if opening took longer, so that two busy processes make
progress.
"""

COURTESY = 0.15
"""Seconds that a process waits before it requests a lease again that it released for another process."""

IDLE = 600.0
"""Seconds without a call after which the resource is closed."""

_T = TypeVar("_T")


@define
class _Held(Generic[_T]):
    """The open resource (`thing`), when it was opened, and the number of running calls (`users`).

    `least` is the minimum duration of the lease in seconds, and `mark` is the time stamp of the request file at its
    start.
    """

    thing: _T
    lock: ExitStack
    mark: int
    least: float
    since: float = field(factory=time.monotonic)
    last: float = field(factory=time.monotonic)
    users: int = 0
    leaving: bool = False
    left: threading.Event = field(factory=threading.Event)


class ShardLease(Generic[_T]):
    """A lease on a resource, which `opened` opens and `closed` closes. The threads of this process share it.

    `folder` contains the lock file, the request file, and a note about the holder, whose names start with `name`. After
    `patience` seconds of waiting, a caller gets `IndexUnavailable`, whose message names the resource `what`.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        opened: Callable[[], _T],
        closed: Callable[[_T], None],
        *,
        what: str,
        patience: float,
    ) -> None:
        self._locks = Locks(folder)
        self._name, self._what, self._patience = name, what, patience
        self._mark, self._note = folder / f"{name}.wanted", folder / f"{name}.holder"
        self._opened, self._closed = opened, closed
        self._changed = threading.Condition()
        self._held: _Held[_T] | None = None
        self._busy = False
        self._courteous_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether this process has the resource open."""
        return self._held is not None

    @contextmanager
    def using(self) -> Iterator[_T]:
        """Yield the open resource for one call. Open it if necessary.

        Raise `IndexUnavailable` if another process does not release it. Errors from opening it propagate.
        """
        held = self._entered()
        try:
            yield held.thing
        finally:
            with self._changed:
                held.users -= 1
                held.last = time.monotonic()
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lease with the resource closed, also for other threads of this process.

        Raise `IndexUnavailable` if another process does not release it.
        """
        deadline = time.monotonic() + self._patience
        while not self._became_busy(deadline):
            self.let_go()
        try:
            with ExitStack() as lock:
                self._lock(lock, deadline)
                yield
        finally:
            self._no_longer_busy(None)

    def let_go(self) -> None:
        """Close the resource after the running calls have finished. Do nothing if it is closed."""
        with self._changed:
            held = self._held
            mine = held is not None and not held.leaving
            if held is not None:
                held.leaving = True
        if held is None:
            return
        if mine:
            self._leave(held)
        else:
            held.left.wait()

    def _entered(self) -> _Held[_T]:
        deadline = time.monotonic() + self._patience
        if not self._became_busy(deadline):
            with self._changed:
                if self._held is not None and not self._held.leaving:
                    self._held.users += 1
                    return self._held
            return self._entered()
        held = None
        try:
            held = self._taken(deadline)
            held.users = 1
        finally:
            self._no_longer_busy(held)
        threading.Thread(target=self._watch, args=(held,), name=f"turn of {self._name}", daemon=True).start()
        return held

    def _became_busy(self, deadline: float) -> bool:
        """Return True if this thread must open the resource, or False if it is open. Wait while another thread opens or
        closes it.

        Raise `IndexUnavailable` after `deadline`, in seconds of the monotonic clock.
        """
        with self._changed:
            while self._busy or (self._held is not None and self._held.leaving):
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise self._refusal()
            if self._held is not None:
                return False
            self._busy = True
            return True

    def _no_longer_busy(self, held: _Held[_T] | None) -> None:
        with self._changed:
            self._held, self._busy = held, False
            self._changed.notify_all()

    def _taken(self, deadline: float) -> _Held[_T]:
        with ExitStack() as lock:
            self._lock(lock, deadline)
            mark, began = _touched(self._mark), time.monotonic()
            thing = self._opened()
            return _Held(thing, lock.pop_all(), mark, max(LEAST, time.monotonic() - began))

    def _lock(self, lock: ExitStack, deadline: float) -> None:
        time.sleep(max(0.0, self._courteous_until - time.monotonic()))

        told = log_once(f"{self._what} is in use by {self._holder()}. Waiting up to {self._patience:g} seconds.")

        def ask() -> None:
            told()
            if time.monotonic() >= deadline:
                raise self._refusal()
            with suppress(OSError):
                _touch(self._mark)

        try:
            lock.enter_context(self._locks.hold(f"{self._name}.lock", ask))
        except HomeUnwritable as error:
            raise IndexUnavailable(f"{self._what} cannot be opened. {error}") from error
        with suppress(OSError):
            _write(self._note, json.dumps({"pid": os.getpid(), "program": _program()}).encode())

    def _watch(self, held: _Held[_T]) -> None:
        while not held.left.wait(LOOK):
            if self._is_over(held):
                self.let_go()

    def _is_over(self, held: _Held[_T]) -> bool:
        now = time.monotonic()
        wanted = now - held.since >= held.least and _touched(self._mark) > held.mark
        return wanted or (not held.users and now - held.last >= IDLE)

    def _leave(self, held: _Held[_T]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not held.users)
        try:
            self._closed(held.thing)
        finally:
            with suppress(OSError):
                self._note.unlink()
            held.lock.close()
            with self._changed:
                if _touched(self._mark) > held.mark:
                    self._courteous_until = time.monotonic() + COURTESY
                self._held = None
                self._changed.notify_all()
            held.left.set()

    def _refusal(self) -> IndexUnavailable:
        return IndexUnavailable(
            f"{self._what} is in use by {self._holder()}, which did not release it within {self._patience:g} seconds. "
            "Wait until that process has finished, or use a Qdrant server, which several programs can share "
            "(QDRANT_URL)."
        )

    def _holder(self) -> str:
        try:
            note = json.loads(read_file(self._note))
            return f"process {int(note['pid'])} ({str(note['program'])[:100]})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"


def _touch(path: Path) -> None:
    descriptor = open_file(path, os.O_WRONLY | os.O_CREAT)
    os.close(descriptor)
    os.utime(path)


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(data)


def _touched(path: Path) -> int:
    """Return the time at which the request file was last touched, in nanoseconds; 0 if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _program() -> str:
    return " ".join([Path(sys.argv[0] or sys.executable).name, *sys.argv[1:3]])
