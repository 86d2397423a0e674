"""Who may read a file: what is derived from a file is never more readable than the file itself.

`readers` are the read bits of a file's permissions. Other bits, access lists and the folders above are not looked at. Where
the system has no such bits (Windows), everybody counts as a reader.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from citekit.adapters.system.home_files import check_parent

EVERYBODY = 0o444
OWNER = 0o400


def readers_of(status: os.stat_result) -> int:
    """The readers of a file that looks like that, for a derived file.

    The owner of what is derived is this process, so its owner may always read it. The group counts only if it is that
    of the derived file: otherwise other people would be in it.
    """
    found = stat.S_IMODE(status.st_mode) & EVERYBODY
    if hasattr(os, "getegid") and status.st_gid != os.getegid() and not found & stat.S_IROTH:
        found &= ~stat.S_IRGRP
    return found | OWNER


def readers_at(path: str | os.PathLike[str]) -> int | None:
    """The readers of the file at `path`; None if there is none."""
    with suppress(OSError, ValueError):
        return readers_of(os.stat(path))  # noqa: PTH116
    return None


def mode_for(readers: int) -> int:
    """The permissions of a new file that those readers may read and its owner may write."""
    return readers & EVERYBODY | stat.S_IRUSR | stat.S_IWUSR | (readers & 0o044) >> 1


def narrow(path: Path, readers: int) -> None:
    """Take the file from everybody who is not among the readers. Nobody is added.

    Raises `HomeUnsafe` if a folder of the home that leads to the file is a link, and nothing else.
    """
    check_parent(path)
    with suppress(OSError):
        status = os.lstat(path)
        permissions = stat.S_IMODE(status.st_mode)
        if stat.S_ISREG(status.st_mode) and permissions & EVERYBODY & ~(readers | OWNER):
            path.chmod(permissions & (mode_for(readers) | stat.S_IRWXU))
