"""File permissions: apart from its owner, a derived file has no readers that its source does not have.

`readers` are the read bits of a file's permissions. On systems without such bits (Windows), everybody counts as a
reader.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from citekit.adapters.system.home_files import check_parent

EVERYBODY = 0o444
OWNER = 0o400


def readers_of(status: os.stat_result) -> int:
    """Return who may read a file that this process derives from a file with that status.

    The new file belongs to this process's user and group. The permission of another group is dropped, unless everybody
    may read the file.
    """
    found = stat.S_IMODE(status.st_mode) & EVERYBODY
    if hasattr(os, "getegid") and status.st_gid != os.getegid() and not found & stat.S_IROTH:
        found &= ~stat.S_IRGRP
    return found | OWNER


def readers_at(path: str | os.PathLike[str]) -> int | None:
    """Return the readers of the file at `path`, or None if it does not exist or is not accessible."""
    with suppress(OSError, ValueError):
        return readers_of(os.stat(path))  # noqa: PTH116
    return None


def readers_of_all(paths: Iterable[str | os.PathLike[str]]) -> int:
    """Return those who can read all of the files at `paths`. Files whose permissions cannot be read are ignored."""
    readers = EVERYBODY
    for path in paths:
        found = readers_at(path)
        readers &= EVERYBODY if found is None else found
    return readers


def mode_for(readers: int) -> int:
    """Return the permissions, before the umask, of a new file that its owner and `readers` may read and write."""
    return readers & EVERYBODY | stat.S_IRUSR | stat.S_IWUSR | (readers & 0o044) >> 1


def narrow(path: Path, readers: int) -> None:
    """Remove read permission from everybody who is not among `readers`, if possible.

    Raise `HomeUnsafe` if a folder of the home on the path is a link.
    """
    check_parent(path)
    with suppress(OSError):
        status = os.lstat(path)
        permissions = stat.S_IMODE(status.st_mode)
        if stat.S_ISREG(status.st_mode) and permissions & EVERYBODY & ~(readers | OWNER):
            path.chmod(permissions & (mode_for(readers) | stat.S_IRWXU))
