"""Lock files: locks between threads and processes.

The system releases the locks of a killed process (flock, LockFileEx).
"""

from __future__ import annotations

import errno
import functools
import hashlib
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol, Self

from attrs import define, field, frozen

from citekit.adapters.system.files import unwritable
from citekit.adapters.system.home_files import check_folder, make_folder, open_file
from citekit.domain.errors import CiteKitError, HomeUnwritable
from citekit.domain.ports.locks import wait_silently

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

POLL = 0.02
"""Polling interval for a lock that another process holds, in seconds."""

NAP = 0.1
"""Interval between two calls of the `waiting` callback, in seconds."""


@define
class _Gate:
    """A gate for the threads that need the same lock; `users` counts those that hold or await it."""

    lock: threading.Lock = field(factory=threading.Lock)
    users: int = 0


class _Held(Protocol):
    def release(self) -> object:
        """Release the lock."""


SILENCE = 3.0
"""Seconds after which a wait without another progress report is logged once, as a warning."""


def log_once(text: str) -> Callable[[], None]:
    """Return a callback that logs `text` once if it is still called after `SILENCE` seconds."""
    due = time.monotonic() + SILENCE

    def tell() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = math.inf
            logging.getLogger(__name__).warning("%s", text)

    return tell


class Locks:
    """Named locks in a folder, with one small file for each name.

    With `passing`, a file is removed when its lock is released. Otherwise, the caller must limit the number of names.
    `hold` and `hold_if_free` raise `HomeUnsafe` if a lock file, or a folder of the home on its path, is a link.
    """

    def __init__(self, folder: Path, *, passing: bool = False) -> None:
        self._folder = folder
        self._passing = passing
        self._gates: dict[str, _Gate] = {}
        self._table = threading.Lock()

    @contextmanager
    def hold(self, name: str, waiting: Callable[[], object] = wait_silently) -> Iterator[None]:
        """Acquire and hold the lock `name`, which is not reentrant. Raise `HomeUnwritable` if it cannot be locked.

        `waiting` is called periodically; an exception that it raises ends the wait. By default, a warning reports after
        `SILENCE` seconds what is awaited.
        """
        if waiting is wait_silently:
            waiting = log_once(
                f"Waiting for another CiteKit process or thread, which has locked {self._folder / name}."
            )
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
        """Hold the lock `name` if it is free and can be locked. Yield whether it was acquired."""
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
        """Yield the gate for that name, which is removed when no thread uses it."""
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

    def _acquired(self, name: str, waiting: Callable[[], object]) -> _Held:
        while True:
            patience = time.monotonic() + NAP
            while time.monotonic() < patience:
                lock = self._attempted(name)
                if lock is not None:
                    return lock
                time.sleep(POLL)
            waiting()

    def _attempted(self, name: str) -> _Held | None:
        """Return the lock, or None if another process holds it. Raise `HomeUnwritable` if it cannot be locked."""
        path = self._folder / name
        try:
            try:
                return _taken(path)
            except FileNotFoundError:
                make_folder(self._folder)
                return _taken(path)
        except OSError as error:
            raise unwritable(error, path) from error
        except RuntimeError as error:  # NotImplementedError is one, too
            if isinstance(error, tuple(errors())):
                raise translated(error, path) from error
            raise

    def _let_go(self, name: str, lock: _Held) -> None:
        """Release the lock. With `passing`, first remove its file, so that a process that is waiting with the file open
        notices that the file has no name anymore.
        """
        if self._passing:
            with suppress(OSError):
                (self._folder / name).unlink()
        lock.release()

    def _acquired_now(self, name: str) -> _Held | None:
        with suppress(HomeUnwritable):
            return self._attempted(name)
        return None


@frozen
class _Flock:
    """A lock on an open file (flock(2)), which the system releases when the process ends."""

    descriptor: int

    @classmethod
    def taken(cls, path: Path) -> Self | None:
        """Return the lock of the file, which is created if missing; None if another process holds it or has just
        removed the file.

        Raise `OSError` if it cannot be locked.
        """
        descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            if _try_lock(descriptor) and _is_at(descriptor, path):
                return cls(descriptor)
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def release(self) -> None:
        """Unlock explicitly, because a forked process may still have the same open file."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        finally:
            os.close(self.descriptor)


def _try_lock(descriptor: int) -> bool:
    """Lock an open file without waiting, and return whether this was possible."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES):
            raise
        return False
    return True


def _taken(path: Path) -> _Held | None:
    """Return a lock of the system if possible, else one of `filelock`; None if another process holds the lock."""
    if fcntl is not None:
        try:
            return _Flock.taken(path)
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK):
                raise
    import filelock

    check_folder(path)
    lock = filelock.FileLock(path, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return None
    return lock


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether the path still refers to the open file, which its last holder may have removed."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


@functools.cache
def errors() -> dict[type[Exception], type[CiteKitError]]:
    """Return the CiteKit error for each exception of locking."""
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
    """Convert one of `errors` to a CiteKit error."""
    if isinstance(error, OSError):
        return unwritable(error, path)
    return HomeUnwritable(f"Cannot lock {path}: {error}.")


STRIPES = 64
"""Number of lock files for each kind of name. The holders of names that share a file wait for each other."""


class FileLocks:
    """The locks of a folder. A name is `kind` or `kind:rest`. Locks of different kinds may be nested."""

    def __init__(self, folder: Path) -> None:
        self._locks = Locks(folder)

    @contextmanager
    def holding(self, name: str, waiting: Callable[[], object] = wait_silently) -> Iterator[None]:
        """See `citekit.domain.ports.locks.Locks.holding`. If the folder cannot be written, no lock is held."""
        with ExitStack() as held:
            with suppress(HomeUnwritable):  # no process can write here, so no lock is needed
                held.enter_context(self._locks.hold(_file_name(name), waiting))
            yield


def _file_name(name: str) -> str:
    kind, colon, rest = name.partition(":")
    if not colon:
        return f"{kind}.lock"
    stripe = int.from_bytes(hashlib.sha256(rest.encode()).digest()[:4]) % STRIPES
    return f"{kind}-{stripe:02d}.lock"
