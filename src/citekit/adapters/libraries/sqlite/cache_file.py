"""A SQLite file of derived data: processes share it, anyone can delete it, and a damaged file is re-created.

Imports next to nothing before it is used: programs that must start fast read such files. Readers never wait (a write-ahead
log), one writer at a time, and nobody waits for the disk but at checkpoints.
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
"""Seconds until a file that could not be used, or could not be written, is tried again."""

PATIENCE = 2.0
"""Seconds that one waits for another program that writes: far more than a write takes. One that was stopped in the middle
of it (a laptop closed, a debugger) is not waited for: what cannot be written down can be made again.
"""

KEPT = 16
"""Connections that are kept open while nobody uses them."""

TRIES = 4
"""Times that a file is opened which somebody replaces again and again."""

_T = TypeVar("_T")
_Identity = tuple[int, int] | None
_UNFIT = (ValueError, TypeError, OverflowError)
"""What SQLite's module raises for values that it cannot hold."""

_forked: list[Connection] = []
"""Connections of the process that this one was forked from: they must not even be closed here (howtocorrupt.html, 2.6)."""


class UnusableError(Exception):
    """The file is not there, is out of reach, or another program holds it."""


class _RecreatedError(UnusableError):
    """The file was damaged, and is gone: the next look makes another."""


class _Opened(NamedTuple):
    """A connection, which file it was opened on, by which process, and whether it stays good beyond one look."""

    connection: Connection
    identity: _Identity
    process: int
    lasting: bool


class SqliteFile:
    """Connections to one file, which has that name now; each is used by one thread at a time, and then again.

    What goes wrong is dealt with alike everywhere. A file that was deleted or replaced is opened again. A damaged one, or one
    with other tables, is deleted: the next look makes another. Where it cannot be written it is read, and for `PAUSE` seconds
    nobody tries to write; where it cannot be read either, nobody tries to. A forked process opens connections of its own.

    SQLite opens by path: links and other things that are not files are looked for before. A method that meets one raises
    `HomeUnsafe`, also one that otherwise never raises.
    """

    def __init__(self, path: str | os.PathLike[str], tables: Tables, *, patience: float = PATIENCE) -> None:
        """The folder of `path` is made at the first write; `patience` is how many seconds one waits for another program."""
        self.path = os.path.abspath(path)  # noqa: PTH100 - pathlib is slow to import
        self._tables = tables
        self._look = os.lstat if is_in_home(self.path) else os.stat
        self._patience = patience
        self._idle: list[_Opened] = []
        self._opening = threading.Lock()
        self._read_again = 0.0
        self._write_again = 0.0

    def read(self, action: Callable[[Connection], _T]) -> _T | None:
        """What `action` gives; None where there is no file, or it failed. Never raises what SQLite does, nor makes a file."""
        return self._attempt(action, create=False, writing=False)

    def write(self, action: Callable[[Connection], _T], *, create: bool = True) -> _T | None:
        """What `action`, all of it or nothing, gives; None where nothing was written. Never raises what SQLite does."""
        return self._attempt(lambda connection: whole(connection, action), create=create, writing=True)

    @contextmanager
    def lent(self) -> Iterator[Connection]:
        """A connection for transactions of the caller's own; one that is open in the end is undone. Makes a missing file.

        Raises `UnusableError`, also in place of errors of SQLite inside the block. The connection may be one that only reads.
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
        """Delete the file, which holds what nobody believes; the next look makes another."""
        with suppress(UnusableError):
            self._delete(self._borrow(create=False, writing=True))

    def exists(self) -> bool:
        """Whether there is such a file."""
        return self._identity() is not None

    def close(self) -> None:
        """Close the connections that nobody uses now; the next look opens another."""
        while self._idle:
            with suppress(IndexError):  # another thread took the last one
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
        """A connection to the file that has that name now. Raises `UnusableError`."""
        rests_until = self._write_again if writing else self._read_again
        if rests_until and time.monotonic() < rests_until:
            raise UnusableError
        identity = self._identity()
        while self._idle and identity is not None:
            with suppress(IndexError):  # another thread took the last one
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
        """For reading alone where it cannot be written. Raises `UnusableError` and `HomeUnsafe`."""
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
        """Opened again if the file was just created or was replaced: only then is the identity of the file known."""
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
                _let_go(replaced)  # not before: who closes a file last writes all of it out
        except (OSError, *EXCEPTIONS) as error:
            self._write_again = time.monotonic() + PAUSE
            raise UnusableError from error
        finally:
            _let_go(spare)
        raise UnusableError

    def _opened(self, mode: str) -> _Opened:
        """A connection with its tables. Raises what `sqlite.EXCEPTIONS` lists where there is none, and `UnusableError`."""
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
        """On a read-only disk, or in somebody else's folder: good for one look, since it may see no changes."""
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
        """Close the connection, and raise `UnusableError` where `error` is SQLite's. A damaged file is deleted."""
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
        """Delete the file that is open, unless somebody has already; whether it is gone.

        Other processes that have it open keep it, and notice on their next access that it has no name. As long as it is
        open here no other file can have its number.
        """
        from pathlib import Path

        from citekit.adapters.system.file_locks import Locks
        from citekit.domain.errors import HomeUnwritable

        folder = Path(self.path).parent
        with suppress(OSError, HomeUnwritable), Locks(folder.parent, passing=True).hold(f".{folder.name}.lock"):
            ours = opened.identity == self._identity()
            _let_go(opened)
            self.close()
            for ending in ("-wal", "-shm", "") if ours else ():  # a new file beside an old log would take it in
                Path(self.path + ending).unlink(missing_ok=True)
            return True
        return False


def _let_go(opened: _Opened | None) -> None:
    if opened is not None and opened.process != os.getpid():
        _forked.append(opened.connection)
    elif opened is not None:
        with suppress(Exception):
            opened.connection.close()
