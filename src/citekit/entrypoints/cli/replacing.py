"""Puts a new file in the place of another in one step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(target: Path, mode: int) -> Iterator[IO[bytes]]:
    """What is written here is the file `target`, whole and durable, with those permissions; where that fails, none of it.

    Raises `OSError`.
    """
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".", suffix=".tmp", delete=False) as file:
            temporary = Path(file.name)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
        _sync(target.parent)
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def _sync(folder: Path) -> None:
    with suppress(OSError):  # not every system can
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
