"""Puts a new file in the place of another in one step."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

PREFIX, SUFFIX = ".citekit-", ".tmp"
"""Of the names of files that are being written."""

LEFT_AFTER = 3600.0
"""Seconds after which whoever was writing such a file is taken for dead."""


@contextmanager
def replacing(target: Path, mode: int) -> Iterator[IO[bytes]]:
    """What is written here is the file `target`, whole and durable, with those permissions; where that fails, none of it.

    Raises `OSError`.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=PREFIX, suffix=SUFFIX, delete=False) as file:
            temporary = Path(file.name)
            temporary.chmod(mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync(target.parent)
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def keeping(original: Path, names: Iterator[Path]) -> Path | None:
    """Copy a file, whole and durable, to the first of `names`, beside it, that nothing has; which that was, None for none.

    Raises `OSError`.
    """
    descriptor, name = tempfile.mkstemp(SUFFIX, PREFIX, original.parent)
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as copy, original.open("rb") as source:  # noqa: PTH123 - of a descriptor
            shutil.copyfileobj(source, copy)
            copy.flush()
            os.fsync(copy.fileno())
        shutil.copystat(original, temporary)
        return next((free for free in names if _is_put(temporary, free)), None)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _is_put(temporary: Path, name: Path) -> bool:
    """Whether the file has that name now, which nothing had."""
    try:
        name.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:  # a file system without links: the empty file keeps others away
        if os.path.lexists(name):
            return False
        name.open("xb").close()
        temporary.replace(name)
    return True


def sweep(folder: Path) -> None:
    """Remove what those left in a folder who were killed while they wrote there. Never raises."""
    with suppress(OSError):
        for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
            with suppress(OSError):
                if path.lstat().st_mtime < time.time() - LEFT_AFTER:
                    path.unlink()


def _sync(folder: Path) -> None:
    with suppress(OSError):  # not every system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
