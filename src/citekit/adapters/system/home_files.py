"""Opens files and folders of a home without following links.

A home may come from an untrusted source: an archive, a clone, or a shared disk. A symbolic link in it would make
CiteKit read, write, or delete files elsewhere, and opening a FIFO or a device may block or have side effects.

The part of a path that is inside a home begins at the last component that is one of `HOME_FOLDERS`, or at the first
`OF_SUBJECTS`, which contains further homes. The user chose the part before it, which may contain links. Outside of
homes, only the last component is checked.

Imports almost nothing, because listings of maps must start quickly.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache

from citekit.domain.errors import HomeUnsafe

OF_SUBJECTS = ".citekit_subjects"
"""The folder in a home that has the homes of subjects of the HTTP server."""

HOME_FOLDERS = frozenset(
    {".resource_maps", ".citekit_output", ".citekit_cache", ".citekit_library", ".citekit_uploads", OF_SUBJECTS}
)
"""The folders of CiteKit in a home."""

DATABASE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes that SQLite appends to the name of a database for its auxiliary files."""

_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a rollback journal that names another file (https://www.sqlite.org/fileformat.html, 3)."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_OPEN = _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR = bool(_NOFOLLOW) and {os.open, os.mkdir, os.stat} <= os.supports_dir_fd
"""Whether folders can be opened relative to each other (openat(2)). Otherwise each folder is checked before use."""

_Path = str | os.PathLike[str]


def open_file(path: _Path, flags: int = os.O_RDONLY, mode: int = 0o666, *, make_folders: bool = False) -> int:
    """Return a descriptor of the regular file at `path`, without blocking on a FIFO.

    Raise `OSError` if the file cannot be opened, or `HomeUnsafe` if it is a link, FIFO, socket, or device, or if a
    folder of the home on the path is a link.
    """
    text = os.path.abspath(path)  # noqa: PTH100 - pathlib is slow to import
    folder, name = os.path.split(text)
    with opened_folder(folder, make=make_folders) as parent:
        target = text if parent is None else name
        _check_kind(target, text, parent)
        try:
            descriptor = os.open(target, flags | _OPEN, mode, dir_fd=parent)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                _check_kind(target, text, parent)
            raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise unsafe(text)
    return descriptor


def read_file(path: _Path, limit: int = -1) -> bytes:
    """Read the first `limit` bytes of the file at `path`, or all by default. Raise the errors of `open_file`."""
    with os.fdopen(open_file(path), "rb") as file:
        return file.read(limit)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, even if the system accepts it only in pieces. Raise `OSError` if writing fails."""
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]


@contextmanager
def opened_folder(folder: _Path, *, make: bool = False, mode: int = 0o777) -> Iterator[int | None]:
    """Yield a descriptor of `folder` for `dir_fd`, or None if the system does not support that; the folder is then only
    checked.

    With `make`, missing folders are created. Raise `OSError` if the folder cannot be opened or created, or `HomeUnsafe`
    if a folder of the home is a link.
    """
    text = os.path.abspath(folder)  # noqa: PTH100
    if not _BY_DESCRIPTOR:
        check_folder(text)
        if make:
            os.makedirs(text, mode, exist_ok=True)  # noqa: PTH103
        yield None
        return
    descriptor = _walked(*_split(text), mode if make else None)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def make_folder(folder: _Path, mode: int = 0o777) -> None:
    """Create `folder` and its parents if missing. Raise the errors of `opened_folder`."""
    with opened_folder(folder, make=True, mode=mode):
        pass


def check_folder(folder: _Path) -> None:
    """Raise `HomeUnsafe` if `folder`, or a folder of the home on its path, is a link. Outside of homes, do nothing."""
    for path in _own_folders(os.path.abspath(folder)):  # noqa: PTH100
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            return
        if stat.S_ISLNK(mode):
            raise unsafe(path)


def check_parent(path: _Path) -> None:
    """Raise `HomeUnsafe` if a folder of the home on the path is a link; `path` itself may be one."""
    check_folder(os.path.dirname(os.path.abspath(path)))  # noqa: PTH100, PTH120


def check_database(path: _Path) -> None:
    """Check a SQLite database and its auxiliary files before it is opened by path. Missing files are allowed.

    Raise `HomeUnsafe` if one of them is neither a regular file nor a folder, if the path has a link inside a home, or
    if the journal names another file, which SQLite would delete.
    """
    text = os.path.abspath(path)  # noqa: PTH100
    folder, name = os.path.split(text)
    check_folder(folder)
    own = bool(_split(folder)[1])
    for suffix in DATABASE_SUFFIXES:
        with suppress(FileNotFoundError, NotADirectoryError):
            mode = (os.lstat if own else os.stat)(os.path.join(folder, name + suffix)).st_mode  # noqa: PTH118
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise unsafe(text + suffix)
    journal = text + "-journal"
    if names_another_file(journal):
        raise HomeUnsafe(
            f"{journal}, which CiteKit did not write, would make SQLite delete another file. Remove the journal."
        )


def names_another_file(journal: _Path) -> bool:
    """Return whether a rollback journal names another file (super-journal), which SQLite deletes when it rolls the
    journal back.

    CiteKit does not create such journals. False if the journal cannot be opened.
    """
    try:
        descriptor = os.open(journal, os.O_RDONLY | _OPEN & ~_NOFOLLOW)
    except OSError:
        return False
    try:
        size = os.fstat(descriptor).st_size
        os.lseek(descriptor, max(0, size - len(_NAMES_ANOTHER)), os.SEEK_SET)
        return os.read(descriptor, len(_NAMES_ANOTHER)) == _NAMES_ANOTHER
    finally:
        os.close(descriptor)


def check_tree(folder: _Path) -> None:
    """Raise `HomeUnsafe` if anything in `folder`, at any depth, is neither a regular file nor a folder."""
    check_folder(folder)
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(here, name)  # noqa: PTH118
            with suppress(FileNotFoundError):
                mode = os.lstat(path).st_mode
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise unsafe(path)


def remove_tree(path: _Path, *, ignore_errors: bool = False) -> None:
    """Remove a folder with everything in it, or the file, link, or FIFO at `path`. Links are not followed.

    Raise `OSError` if something cannot be removed, unless `ignore_errors` is true.
    """
    with suppress(*(OSError,) if ignore_errors else ()):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)  # noqa: PTH108
            return
        from shutil import rmtree

        rmtree(path, ignore_errors)


def is_in_home(path: _Path) -> bool:
    """Return whether `path` is one of the folders of a home (see `HOME_FOLDERS`), or is in one of them."""
    return bool(_split(os.path.abspath(path))[1])  # noqa: PTH100


def unsafe(path: str) -> HomeUnsafe:
    """Return the error for an unsafe file in a home."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        mode = 0
    if not mode or stat.S_ISREG(mode):
        return HomeUnsafe(f"{path} was removed or replaced while CiteKit opened it. Try again.")
    if stat.S_ISLNK(mode):
        return HomeUnsafe(
            f"{path} is a symbolic link, and CiteKit does not follow links inside its home. Remove the link, or "
            "replace it with a regular file or folder."
        )
    kinds = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
    kind = next((kind for is_kind, kind in kinds if is_kind(mode)), "a device")
    return HomeUnsafe(f"{path} is {kind}, not a regular file. Remove it.")


@lru_cache(maxsize=1024)
def _split(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the home and the components of `path` below it, or `path` without components if it is not in a home."""
    names = path.split(os.sep)  # noqa: PTH206 - pathlib is slow to import
    own = next((at for at in range(len(names) - 1, 0, -1) if names[at] in HOME_FOLDERS), None)
    if own is None:
        return path, ()
    if OF_SUBJECTS in names[1:own]:  # homes in a home
        own = names.index(OF_SUBJECTS, 1)
    return os.sep.join(names[:own]) or os.sep, tuple(names[own:])  # noqa: PTH118


@lru_cache(maxsize=1024)
def _own_folders(path: str) -> tuple[str, ...]:
    """Return each folder of the home on an absolute path, outermost first, then the path; nothing if it is not in a
    home.
    """
    root, names = _split(path)
    return tuple(os.path.join(root, *names[:at]) for at in range(1, len(names) + 1))  # noqa: PTH118


def _walked(root: str, names: tuple[str, ...], mode: int | None) -> int:
    """Return a descriptor of the folder `names` below `root`, without following links.

    With a `mode`, create missing folders. Raise the errors of `opened_folder`.
    """
    try:
        descriptor = os.open(root, _FOLDER)
    except FileNotFoundError:
        if mode is None:
            raise
        os.makedirs(root, mode, exist_ok=True)  # noqa: PTH103
        descriptor = os.open(root, _FOLDER)
    try:
        for at, name in enumerate(names, start=1):
            try:
                inner = os.open(name, _FOLDER | _NOFOLLOW, dir_fd=descriptor)
            except OSError:
                inner = _stepped(descriptor, name, os.path.join(root, *names[:at]), mode)  # noqa: PTH118
            os.close(descriptor)
            descriptor = inner
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _stepped(parent: int, name: str, path: str, mode: int | None) -> int:
    try:
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=parent)
    except FileNotFoundError as error:
        if mode is None:
            raise FileNotFoundError(error.errno, error.strerror, path) from None
        with suppress(FileExistsError):
            os.mkdir(name, mode, dir_fd=parent)
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=parent)
    except OSError as error:
        with suppress(OSError):
            if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                raise unsafe(path) from error
        raise OSError(error.errno, error.strerror, path) from None


def _check_kind(target: str, path: str, parent: int | None) -> None:
    """Raise `HomeUnsafe` if the target is neither a regular file nor a folder."""
    try:
        mode = os.stat(target, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise unsafe(path)
