"""Locks that hold between threads and between processes, and that a killed holder lets go of (flock, LockFileEx)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from citekit.adapters.drivers.files import unwritable, writing
from citekit.domain.errors import CiteKitError, HomeUnwritable

if TYPE_CHECKING:
    import filelock

POLL = 0.02
"""Seconds between two looks at a lock that another process holds. Threads of one process wait without looking."""


class Locks:
    """Named locks in a folder, one small file each; the caller keeps the number of names bounded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._gates: dict[str, threading.Lock] = {}

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Hold the lock `name`, waiting for it; it is not reentrant. Raises `HomeUnwritable`."""
        with self._gates.setdefault(name, threading.Lock()):
            lock = self._acquired(name)
            try:
                yield
            finally:
                lock.release()

    @contextmanager
    def hold_if_free(self, name: str) -> Iterator[bool]:
        """Hold the lock `name` where nobody holds it; gives whether it does."""
        gate = self._gates.setdefault(name, threading.Lock())
        if not gate.acquire(blocking=False):
            yield False
            return
        try:
            lock = self._acquired_now(name)
            try:
                yield lock is not None
            finally:
                if lock is not None:
                    lock.release()
        finally:
            gate.release()

    def _acquired(self, name: str) -> filelock.BaseFileLock:
        lock = self._lock(name)
        try:
            lock.acquire()
        except tuple(errors()) as error:
            raise translated(error, self._folder / name) from error
        return lock

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
