"""Reads Calibre's `metadata.db` without writing to it or to its folder.

Reading can require writing: after a program died during a write (a hot `-journal` must be rolled back), or in
write-ahead logging mode (readers write a `-shm` file). The database is then copied to a temporary folder, and read
there. A journal can name a file outside the library, which SQLite would delete; this name is removed from the copy.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from attrs import frozen

from citekit.adapters.libraries.sqlite.errors import EXCEPTIONS, Trouble, trouble_of
from citekit.adapters.system.file_state import FileState
from citekit.adapters.system.files import UNREADABLE
from citekit.adapters.system.home_files import DATABASE_SUFFIXES, names_another_file
from citekit.domain.errors import LibraryUnavailable

NAME = "metadata.db"
MAGIC = b"SQLite format 3\0"
TIME_LIMIT = 60.0
"""Time limit of one query session in seconds, in addition to `patience`. A foreign database can have a view that never
ends.
"""

CELL_LIMIT = 64 * 1024 * 1024
"""Size limit of one value, in bytes."""

TRIES = 3
"""Number of attempts to copy a database that changes while it is copied."""

_TURN = threading.Lock()
"""Serializes access to databases in this process.

Closing a file drops every POSIX lock that the process holds on it, including SQLite's lock in another thread.
"""

_SAYS = {
    Trouble.BUSY: "another program is writing to metadata.db; try again when that program has finished",
    Trouble.DAMAGED: "metadata.db is damaged; open the library in Calibre and choose Library maintenance > Restore database",
    Trouble.FOREIGN: (
        "metadata.db lacks tables or columns that CiteKit reads; open the library once in a current version of Calibre"
    ),
    Trouble.FULL: "the temporary folder is full; free some space",
    Trouble.READ_ONLY: "you are not permitted to read metadata.db",
    Trouble.UNREACHABLE: "metadata.db cannot be opened; check that you are permitted to read it",
    Trouble.FAILED: "the system reported an error while reading metadata.db; check the disk and the free memory",
    Trouble.TOO_MUCH: "metadata.db exceeds a size or time limit; check that Calibre created it",
    Trouble.MISUSED: "SQLite reported an unexpected error while reading metadata.db; please report this bug",
}

DatabaseState = tuple[FileState | None, ...]
"""The states of the database and of its auxiliary files; None for each file that cannot be examined."""


@frozen
class _Copy:
    """A copy of the database in a temporary folder, made when the original had the state `state`."""

    state: DatabaseState
    folder: tempfile.TemporaryDirectory[str]


class CalibreDatabase:
    """The database of the Calibre library in `folder`.

    Reading waits up to `patience` seconds for a program that is writing to it.
    """

    def __init__(self, folder: Path, patience: float = 5.0) -> None:
        self.folder = folder
        self._path = folder / NAME
        self._patience = patience
        self._copy: _Copy | None = None

    def state(self) -> DatabaseState:
        """Return the current file states of the database, its rollback journal, and its write-ahead log."""
        return tuple(_state(self._path.with_name(NAME + suffix)) for suffix in ("", "-journal", "-wal"))

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a single transaction, so that all queries see the same state.

        Raise `LibraryUnavailable` if the database cannot be read.
        """
        with _TURN:
            try:
                with closing(self._open()) as connection:
                    yield connection
            except EXCEPTIONS as error:
                raise self._unavailable(_SAYS[trouble_of(error)]) from error

    def _open(self) -> sqlite3.Connection:
        self._require_files()
        if self._is_logged_ahead():
            return self._open_copy()
        try:
            return _began(f"{self._path.absolute().as_uri()}?mode=ro", self._patience)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _NEED_WRITING:
                raise
            return self._open_copy()

    def _require_files(self) -> None:
        """Raise `LibraryUnavailable` if the database or an auxiliary file is not a regular file."""
        for suffix in DATABASE_SUFFIXES:
            with suppress(OSError, ValueError):
                if not stat.S_ISREG(self._path.with_name(NAME + suffix).stat().st_mode):
                    raise self._unavailable(f"{NAME}{suffix} is not a regular file")

    def _is_logged_ahead(self) -> bool:
        """Return whether the database uses write-ahead logging (https://www.sqlite.org/fileformat.html)."""
        try:
            with self._path.open("rb") as file:
                header = file.read(100)
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise LibraryUnavailable(f"Calibre library not found: {self.folder}") from error
        except OSError as error:
            raise self._unavailable(UNREADABLE.get(error.errno or 0, f"{error.strerror}")) from error
        if not header.startswith(MAGIC):
            raise self._unavailable(_SAYS[Trouble.DAMAGED])
        return 2 in header[18:20]

    def _open_copy(self) -> sqlite3.Connection:
        if self._copy is None or self._copy.state != self.state():
            self._copy = self._copied()
        return _began(f"{(Path(self._copy.folder.name) / NAME).as_uri()}?mode=rw", self._patience)

    def _copied(self) -> _Copy:
        for attempt in range(TRIES):
            time.sleep(0.05 * attempt)
            before, folder = self.state(), tempfile.TemporaryDirectory(prefix="citekit-calibre-")
            try:
                for path in (self._path.with_name(NAME + suffix) for suffix in ("", "-journal", "-wal")):
                    with suppress(FileNotFoundError):
                        shutil.copyfile(path, Path(folder.name) / path.name)
                self._forget_other_file(Path(folder.name) / f"{NAME}-journal")
            except OSError as error:
                raise self._unavailable(
                    f"CiteKit must copy metadata.db to read it, but the copy failed ({error.strerror}); check that "
                    f"{tempfile.gettempdir()} has enough space"
                ) from error
            if before == self.state():
                return _Copy(before, folder)
        raise self._unavailable(_SAYS[Trouble.BUSY])

    def _forget_other_file(self, journal: Path) -> None:
        """Remove the name of a super-journal, if there is one, from the copied journal.

        SQLite creates a super-journal for a transaction that changes several databases, such as Calibre's library and
        notes. If the super-journal is missing, the transaction was committed, so delete the copied journal.
        """
        if not names_another_file(journal):
            return
        if not any(self.folder.glob(f"{NAME}-mj*")):
            journal.unlink()
            return
        with journal.open("rb+") as file:
            file.seek(-8, os.SEEK_END)
            file.write(bytes(8))

    def _unavailable(self, why: str) -> LibraryUnavailable:
        return LibraryUnavailable(f"The Calibre library at {self.folder} cannot be read: {why}.")


_NEED_WRITING = {
    sqlite3.SQLITE_READONLY_ROLLBACK,
    sqlite3.SQLITE_READONLY_RECOVERY,
    sqlite3.SQLITE_READONLY_CANTINIT,
    sqlite3.SQLITE_READONLY_CANTLOCK,
    sqlite3.SQLITE_READONLY_DIRECTORY,
}


def _began(uri: str, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=patience, isolation_level=None)
    try:
        connection.text_factory = _text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL_LIMIT)
        end = time.monotonic() + TIME_LIMIT + patience
        connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _state(path: Path) -> FileState | None:
    try:
        return FileState.of(path.stat())
    except (OSError, ValueError):
        return None
