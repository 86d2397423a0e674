"""Locks that hold between threads and between processes, and that a killed holder lets go of (flock, LockFileEx)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from citekit.adapters.drivers.files import unwritable, writing
from citekit.domain.errors import CiteKitError, HomeUnwritable

if TYPE_CHECKING:
    import filelock

POLL = 0.02
"""Seconds between two looks at a lock that another process holds. Threads of one process wait without looking."""

NAP = 0.1
"""Seconds between two calls of what is called while a lock is waited for."""


@define
class _Gate:
    """Where the threads of this process that want one lock wait; `users` are at it."""

    lock: threading.Lock = field(factory=threading.Lock)
    users: int = 0


def _patiently() -> None:
    """Nothing is done while waiting."""


class Locks:
    """Named locks in a folder, one small file each.

    `passing` removes a lock's file when it is let go, for names without number; else the caller keeps their number bounded.
    """

    def __init__(self, folder: Path, *, passing: bool = False) -> None:
        self._folder = folder
        self._passing = passing
        self._gates: dict[str, _Gate] = {}
        self._table = threading.Lock()

    @contextmanager
    def hold(self, name: str, waiting: Callable[[], object] = _patiently) -> Iterator[None]:
        """Hold the lock `name`, waiting for it; it is not reentrant. Raises `HomeUnwritable`.

        `waiting` is called now and then while it waits; what that raises goes through, and the lock is not held.
        """
        with self._gate(name) as gate:
            while not gate.acquire(timeout=NAP):
                waiting()
            try:
                lock = self._acquired(name, waiting)
                try:
                    yield
                finally:
                    self._let_go(name, lock)
            finally:
                gate.release()

    @contextmanager
    def hold_if_free(self, name: str) -> Iterator[bool]:
        """Hold the lock `name` where nobody holds it; gives whether it does."""
        with self._gate(name) as gate:
            if not gate.acquire(blocking=False):
                yield False
                return
            try:
                lock = self._acquired_now(name)
                try:
                    yield lock is not None
                finally:
                    if lock is not None:
                        self._let_go(name, lock)
            finally:
                gate.release()

    @contextmanager
    def _gate(self, name: str) -> Iterator[threading.Lock]:
        """The gate of that name, which is forgotten when nobody is at it."""
        with self._table:
            gate = self._gates.setdefault(name, _Gate())
            gate.users += 1
        try:
            yield gate.lock
        finally:
            with self._table:
                gate.users -= 1
                if not gate.users:
                    del self._gates[name]

    def _acquired(self, name: str, waiting: Callable[[], object]) -> filelock.BaseFileLock:
        import filelock

        lock = self._lock(name)
        while True:
            try:
                lock.acquire(timeout=NAP)
                return lock
            except filelock.Timeout:
                waiting()
            except tuple(errors()) as error:
                raise translated(error, self._folder / name) from error

    def _let_go(self, name: str, lock: filelock.BaseFileLock) -> None:
        """The file goes while it is still locked: whoever has it open sees that it has no name, and opens a new one."""
        if self._passing:
            with suppress(OSError):
                (self._folder / name).unlink()
        lock.release()

    def _acquired_now(self, name: str) -> filelock.BaseFileLock | None:
        with suppress(HomeUnwritable, *errors()):
            lock = self._lock(name)
            lock.acquire(blocking=False)
            return lock
        return None

    def _lock(self, name: str) -> filelock.BaseFileLock:
        import filelock

        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        return filelock.FileLock(self._folder / name, thread_local=False, poll_interval=POLL)


@functools.cache
def errors() -> dict[type[Exception], type[CiteKitError]]:
    """The exceptions of a lock, and ours: whatever keeps us from locking keeps us from writing."""
    import filelock

    return {
        filelock.Timeout: HomeUnwritable,
        filelock.SoftFileLockProtocolError: HomeUnwritable,
        filelock.LeaseSettingsMismatch: HomeUnwritable,
        OSError: HomeUnwritable,
        RuntimeError: HomeUnwritable,
        NotImplementedError: HomeUnwritable,
    }


def translated(error: Exception, path: Path) -> CiteKitError:
    """Our error for one of `errors`."""
    if isinstance(error, OSError):
        return unwritable(error, path)
    return HomeUnwritable(f"Cannot lock {path}: {error}.")
