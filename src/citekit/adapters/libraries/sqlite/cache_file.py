"""Manages a SQLite file of derived data. Several processes can share it, and anyone can delete it.

A damaged file is re-created. Modules are imported on first use, for programs that must start fast. With the write-ahead
log, readers do not wait for writers, and only checkpoints wait for the disk.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from citekit.adapters.libraries.sqlite.database import (
    Tables,
    connected,
    is_about_file,
    is_damage,
    is_ready,
    is_unopened,
    make_private,
    make_ready,
    whole,
)
from citekit.adapters.system.home_files import check_database, is_in_home, make_folder

if TYPE_CHECKING:
    from sqlite3 import Connection

PAUSE = 5.0
"""Seconds before another attempt to use or write a file after a failure."""

PATIENCE = 2.0
"""Seconds to wait for another process that is writing, which is far more than a write takes.

Cached data can be computed again, so a suspended writer is not waited for.
"""

KEPT = 16
"""Maximum number of idle connections that stay open."""

TRIES = 4
"""Maximum number of attempts to open a file that other processes keep replacing."""

_T = TypeVar("_T")
_Identity = tuple[int, int] | None
_UNFIT = (ValueError, TypeError, OverflowError)
"""Exceptions that the module `sqlite3` raises for values that it cannot store."""

_forked: list[Connection] = []
"""Connections inherited from the parent process of a fork. They must not even be closed (howtocorrupt.html, 2.6)."""


class UnusableError(Exception):
    """The file does not exist, cannot be accessed, is locked, or caused another SQLite error."""


class _RecreatedError(UnusableError):
    """The file was damaged and has been deleted. The next `write` or `lent` creates a new file."""


class _Opened(NamedTuple):
    """An open connection. `identity` identifies the file on disk (None: unknown), and `process` is the ID of its
    process.

    `lasting` means that the connection can be reused.
    """

    connection: Connection
    identity: _Identity
    process: int
    lasting: bool


class SqliteFile:
    """A pool of connections to one file path. A connection is used by one thread at a time.

    A file that was deleted or replaced is reopened. A file that is damaged or has unexpected tables is deleted, and the
    next `write` or `lent` creates a new file. If a file cannot be written, it is opened read-only, and no write is
    attempted for `PAUSE` seconds; if it cannot be read either, no read is attempted. A forked process opens its own
    connections.

    SQLite opens files by path. Methods that open the file raise `HomeUnsafe` if the path is a link or not a regular
    file, even if they otherwise raise no errors.
    """

    def __init__(self, path: str | os.PathLike[str], tables: Tables, *, patience: float = PATIENCE) -> None:
        """Create a pool for `path`, whose folder is created on the first write.

        `patience` is the number of seconds to wait for other writers.
        """
        self.path = os.path.abspath(path)  # noqa: PTH100 - pathlib is slow to import
        self._tables = tables
        self._look = os.lstat if is_in_home(self.path) else os.stat
        self._patience = patience
        self._idle: list[_Opened] = []
        self._opening = threading.Lock()
        self._read_again = 0.0
        self._write_again = 0.0

    def read(self, action: Callable[[Connection], _T]) -> _T | None:
        """Run `action` with a connection and return its result; None if there is no file or the action failed.

        Never raise SQLite errors.
        """
        return self._attempt(action, create=False, writing=False)

    def write(self, action: Callable[[Connection], _T], *, create: bool = True) -> _T | None:
        """Run `action` as one transaction and return its result; None if nothing was written.

        `create` creates a missing file. Never raise SQLite errors.
        """
        return self._attempt(lambda connection: whole(connection, action), create=create, writing=True)

    @contextmanager
    def lent(self) -> Iterator[Connection]:
        """Yield a connection, perhaps a read-only one, for the caller's own transactions.

        The file is created if it is missing. A transaction that is still open at the end of the block is rolled back.
        Raise `UnusableError` if the file cannot be opened or if SQLite reports an error in the block.
        """
        opened = self._borrow_recreated()
        try:
            yield opened.connection
            if opened.connection.in_transaction:
                opened.connection.execute("ROLLBACK")
        except BaseException as error:
            self._judge(opened, error, writing=False)
            raise
        self._give_back(opened)

    def discard(self) -> None:
        """Delete the file because its content cannot be trusted."""
        with suppress(UnusableError):
            self._delete(self._borrow(create=False, writing=True))

    def exists(self) -> bool:
        """Return whether the file exists at its path."""
        return self._identity() is not None

    def close(self) -> None:
        """Close the idle connections. The next access opens a new connection."""
        while self._idle:
            with suppress(IndexError):  # another thread took the last connection
                _let_go(self._idle.pop())

    def _attempt(self, action: Callable[[Connection], _T], *, create: bool, writing: bool) -> _T | None:
        for _ in range(2):
            try:
                opened = self._borrow(create=create, writing=writing)
                try:
                    result = action(opened.connection)
                except BaseException as error:
                    self._judge(opened, error, writing=writing)
                    raise
            except _RecreatedError:
                continue
            except (UnusableError, *_UNFIT):
                return None
            self._give_back(opened)
            return result
        return None

    def _borrow_recreated(self) -> _Opened:
        with suppress(_RecreatedError):
            return self._borrow(create=True, writing=False)
        return self._borrow(create=True, writing=False)

    def _borrow(self, *, create: bool, writing: bool) -> _Opened:
        """Return an idle or new connection to the file at the path. Raise `UnusableError` if the file cannot be used."""
        rests_until = self._write_again if writing else self._read_again
        if rests_until and time.monotonic() < rests_until:
            raise UnusableError
        identity = self._identity()
        while self._idle and identity is not None:
            with suppress(IndexError):  # another thread took the last connection
                opened = self._idle.pop()
                if opened.identity == identity and opened.process == os.getpid():
                    return opened
                _let_go(opened)
        if identity is None and not create:
            raise UnusableError
        with self._opening:
            return self._open(create, writing)

    def _give_back(self, opened: _Opened) -> None:
        if opened.lasting and len(self._idle) < KEPT:
            self._idle.append(opened)
        else:
            _let_go(opened)

    def _open(self, create: bool, writing: bool) -> _Opened:
        """Open the file, read-only if it cannot be written and `writing` is False.

        Raise `UnusableError` if it cannot be opened, or `HomeUnsafe` if the path is unsafe.
        """
        check_database(self.path)
        if time.monotonic() >= self._write_again:
            try:
                return self._open_to_write(create)
            except _RecreatedError:
                raise
            except UnusableError:
                if writing:
                    raise
        with suppress(UnusableError):
            return self._open_to_read()
        self._read_again = time.monotonic() + PAUSE
        raise UnusableError

    def _open_to_write(self, create: bool) -> _Opened:
        """Open the file for writing, and open it again if it was created or replaced during the first attempt."""
        from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS

        identity, spare = self._identity(), None
        try:
            if create:
                make_folder(os.path.dirname(self.path), 0o700)  # noqa: PTH120
            for _ in range(TRIES):
                opened = self._opened("rwc" if create else "rw")
                if opened.identity == identity is not None:
                    return opened
                identity, replaced, spare = opened.identity, spare, opened
                _let_go(replaced)  # not earlier: closing the last connection checkpoints the whole log
        except (OSError, *EXCEPTIONS) as error:
            self._write_again = time.monotonic() + PAUSE
            raise UnusableError from error
        finally:
            _let_go(spare)
        raise UnusableError

    def _opened(self, mode: str) -> _Opened:
        """Open a connection in the SQLite mode `mode` and create missing tables.

        Raise one of `errors.EXCEPTIONS`, or `UnusableError` if the tables cannot be set up.
        """
        connection = connected(self.path, mode, self._patience)
        if mode == "rwc" and not self._tables.shared:
            make_private(self.path)
        opened = _Opened(connection, self._identity(), os.getpid(), lasting=True)
        try:
            make_ready(connection, self._tables, self._patience)
        except BaseException as error:
            self._judge(opened, error, writing=True)
            raise
        return opened

    def _open_to_read(self) -> _Opened:
        """Open a file that cannot be written, such as one on a read-only disk, for one use.

        The connection may miss changes by other processes.
        """
        from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS

        for mode in ("ro", "ro&immutable=1"):
            opened = None
            try:
                opened = _Opened(connected(self.path, mode, self._patience), None, os.getpid(), lasting=False)
                if is_ready(opened.connection, self._tables):
                    return opened
            except EXCEPTIONS as error:
                _let_go(opened)
                if not is_unopened(error):
                    break
            else:
                _let_go(opened)
        raise UnusableError

    def _identity(self) -> _Identity:
        try:
            status = self._look(self.path)
        except (OSError, ValueError):
            return None
        return status.st_dev, status.st_ino

    def _judge(self, opened: _Opened, error: BaseException, *, writing: bool) -> None:
        """Close the connection after `error`, and delete the file if it is damaged.

        Raise `UnusableError` if `error` comes from SQLite.
        """
        from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS

        if isinstance(error, EXCEPTIONS) and opened.lasting and is_damage(error) and self._delete(opened):
            raise _RecreatedError from error
        _let_go(opened)
        if not isinstance(error, EXCEPTIONS):
            return
        if is_about_file(error):
            self._write_again = time.monotonic() + PAUSE
            self._read_again = self._read_again if writing else self._write_again
        raise UnusableError from error

    def _delete(self, opened: _Opened) -> bool:
        """Delete the open file unless another process replaced it. Return False if it could not be deleted.

        No other file can have the inode number of this one while it is open here.
        """
        from pathlib import Path

        from citekit.adapters.system.file_locks import Locks
        from citekit.domain.errors import HomeUnwritable

        folder = Path(self.path).parent
        with suppress(OSError, HomeUnwritable), Locks(folder.parent, passing=True).hold(f".{folder.name}.lock"):
            ours = opened.identity == self._identity()
            _let_go(opened)
            self.close()
            for ending in ("-wal", "-shm", "") if ours else ():  # a new file next to an old log would replay it
                Path(self.path + ending).unlink(missing_ok=True)
            return True
        return False


def _let_go(opened: _Opened | None) -> None:
    if opened is not None and opened.process != os.getpid():
        _forked.append(opened.connection)
    elif opened is not None:
        with suppress(Exception):
            opened.connection.close()
