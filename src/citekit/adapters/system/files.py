"""Atomic file writes: a kill at any point leaves either the old or the new content.

A temporary file in the same folder is written, flushed to the disk (fsync), and renamed over the target, which is
atomic (POSIX).
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from citekit.adapters.system.home_files import (
    check_folder,
    check_parent,
    is_in_home,
    open_file,
    opened_folder,
    write_all,
)
from citekit.domain.errors import HomeUnwritable, SourceUnreadable

LEFTOVER_AGE = 3600.0
"""Age in seconds after which a temporary file is assumed to be from a killed process."""

_FULL = "the disk is full; free some space"
_FORBIDDEN = "you are not permitted to write there"
_NO_FOLDER = "a part of the path is not a folder"
UNWRITABLE: dict[int, str] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: "your disk quota is used up; free some space",
    errno.EFBIG: "the file would be larger than the system allows",
    errno.EROFS: "it is on a read-only file system",
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.ENAMETOOLONG: "the name is too long for the file system",
    errno.ENOTDIR: _NO_FOLDER,
    errno.EEXIST: _NO_FOLDER,
    errno.EISDIR: "there is a folder with that name; move or rename it",
    errno.ENOENT: "its folder no longer exists",
    errno.ELOOP: "its path contains a loop of symbolic links",
    errno.EIO: "the disk reported an error; check the disk",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
}
"""Reasons why a file could not be written. Other errors use the text of the system."""

UNREADABLE: dict[int, str] = {
    errno.ENOENT: "there is no such file",
    errno.ENOTDIR: "there is no such file: a part of its path is not a folder",
    errno.EACCES: "you are not permitted to read it",
    errno.EPERM: "you are not permitted to read it",
    errno.ELOOP: "its path contains a loop of symbolic links",
    errno.ENAMETOOLONG: "its name is too long for the file system",
    errno.EIO: "the disk reported an error",
    errno.ENXIO: "it is a socket or a device, not a file",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
}
"""Reasons why a file could not be read."""


def unwritable(error: OSError, path: Path) -> HomeUnwritable:
    """Return the error for a failed write."""
    is_refused = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    remedy = (
        "; make it writable, or map the files in another home (--home DIR or CITEKIT_HOME)"
        if is_refused and is_in_home(path)
        else ""
    )
    return HomeUnwritable(f"Cannot write {path}: {_reason(error, UNWRITABLE)}{remedy}.")


def unreadable(error: OSError, path: Path) -> SourceUnreadable:
    """Return the error for a source that cannot be read."""
    return SourceUnreadable(f"Cannot read {path}: {_reason(error, UNREADABLE)}.")


def _reason(error: OSError, table: dict[int, str]) -> str:
    return table.get(error.errno or 0) or (error.strerror or str(error) or type(error).__name__).rstrip(".")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an `OSError` of the block to `HomeUnwritable` for `path`."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from error


def write_atomically(path: Path, data: bytes, *, durable: bool = True, mode: int = 0o666) -> None:
    """Write `data` to `path`, creating its folder if needed.

    On failure, raise `HomeUnwritable`, or `HomeUnsafe` if a folder of the home on the path is a link, and leave the old
    file unchanged. Without `durable`, a power failure may undo or damage the file. `mode` is the permissions of the new
    file before the umask.
    """
    with writing(path), opened_folder(path.parent, make=True) as folder:
        if folder is None:
            with temporary_beside(path) as temporary:
                _write_new(str(temporary), None, data, durable, mode)
                temporary.replace(path)
        else:
            _write_into(folder, path.name, data, durable, mode)
            if durable:
                with suppress(OSError):
                    os.fsync(folder)


def _write_into(folder: int, name: str, data: bytes, durable: bool, mode: int) -> None:
    """Write the file in an open folder, even if another folder takes its path."""
    temporary = _temporary_name()
    try:
        _write_new(temporary, folder, data, durable, mode)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield an unused path in the folder of `path`, and remove the file at the end.

    Raise `HomeUnsafe` if a folder of the home on the path is a link.
    """
    check_parent(path)
    temporary = path.with_name(_temporary_name())
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink()


def _temporary_name() -> str:
    return f".{secrets.token_hex(8)}.tmp"


def _write_new(path: str, folder: int | None, data: bytes, durable: bool, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode, dir_fd=folder)
    try:
        write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Flush the content of `path` to the disk. Raise `OSError` if that fails."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Flush the entries of `folder` to the disk. Do nothing if the system does not support it."""
    with suppress(OSError):
        sync_file(folder)


def sweep(folder: Path, older_than: float = LEFTOVER_AGE) -> int:
    """Remove temporary files that killed processes left in `folder` more than `older_than` seconds ago. Return their
    number.

    Raise `HomeUnsafe` if a folder of the home on the path is a link.
    """
    swept = 0
    check_folder(folder)
    horizon = time.time() - older_than
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < horizon:
                        Path(entry.path).unlink()
                        swept += 1
    return swept


def is_temporary(name: str) -> bool:
    """Return whether the name is that of a temporary file of this module."""
    return name.startswith(".") and name.endswith(".tmp")


def open_home_file(path: Path) -> BufferedReader:
    """Open a file of the home without following links. Raise the errors of `open_file`."""
    return os.fdopen(open_file(path), "rb")


def open_for_reading(path: Path) -> BufferedReader:
    """Open the file at `path` without blocking on a FIFO. Raise `OSError` if it cannot be opened."""
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
