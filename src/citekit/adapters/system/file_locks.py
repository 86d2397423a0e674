"""Lock files: locks between threads and processes that a killed holder releases (flock, LockFileEx)."""

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
"""Seconds between two looks at a lock that another process holds. Threads of one process wait without looking."""

NAP = 0.1
"""Seconds between two calls of what is called while a lock is waited for."""


@define
class _Gate:
    """Where the threads of this process that want one lock wait; `users` are at it."""

    lock: threading.Lock = field(factory=threading.Lock)
    users: int = 0


class _Held(Protocol):
    """A lock that is held."""

    def release(self) -> object:
        """Release it."""


SILENCE = 3.0
"""Seconds after which a wait that is not reported otherwise is logged once, as a warning."""


def log_once(text: str) -> Callable[[], None]:
    """What says `text` once, where it is still called `SILENCE` seconds from now: no program stands still without a word."""
    due = time.monotonic() + SILENCE

    def tell() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = math.inf
            logging.getLogger(__name__).warning("%s", text)

    return tell


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
    def hold(self, name: str, waiting: Callable[[], object] = wait_silently) -> Iterator[None]:
        """Hold the lock `name`, waiting for it; it is not reentrant. Raises `HomeUnwritable`.

        `waiting` is called now and then while it waits; what that raises goes through, and the lock is not held. Without,
        a warning says what is waited for.
        """
        if waiting is wait_silently:
            waiting = log_once(f"Waiting for another program of CiteKit, which holds {self._folder / name}.")
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
        """The lock, or None where another process holds it. Raises `HomeUnwritable`."""
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
        """The file goes while it is still locked: a process that has it open sees that it has no name, and opens a
        new one."""
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
    """A lock on an open file (flock(2)), which the system takes back when its process ends."""

    descriptor: int

    @classmethod
    def taken(cls, path: Path) -> Self | None:
        """The lock of the file, made where it is missing; None where another has it. Raises `OSError`."""
        descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return cls(descriptor)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES):
                os.close(descriptor)
                raise
        os.close(descriptor)
        return None

    def release(self) -> None:
        """Unlocked by name, not only closed: a forked process has the same open file."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)
        finally:
            os.close(self.descriptor)


def _taken(path: Path) -> _Held | None:
    """The system's own lock where it has one, else that of `filelock`, which knows more systems."""
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
    """Whether the open file still has that name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


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


STRIPES = 64
"""Lock files for each kind of name; names of one kind that share a file only wait for one another."""


class FileLocks:
    """Locks of a folder. A name is `kind` or `kind:rest`; different kinds never share a file, so they may be nested."""

    def __init__(self, folder: Path) -> None:
        self._locks = Locks(folder)

    @contextmanager
    def holding(self, name: str, waiting: Callable[[], object] = wait_silently) -> Iterator[None]:
        """Waits for the lock; see `Locks.holding` of the port."""
        with ExitStack() as held:
            with suppress(HomeUnwritable):  # nobody can write here, so there is nothing to take turns for
                held.enter_context(self._locks.hold(_file_name(name), waiting))
            yield


def _file_name(name: str) -> str:
    kind, colon, rest = name.partition(":")
    if not colon:
        return f"{kind}.lock"
    stripe = int.from_bytes(hashlib.sha256(rest.encode()).digest()[:4]) % STRIPES
    return f"{kind}-{stripe:02d}.lock"
