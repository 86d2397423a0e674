"""Reads all bytes of a file at once, for book formats."""

from __future__ import annotations

from pathlib import Path

from citekit.adapters.system.files import open_for_reading, unreadable
from citekit.domain.errors import SourceUnsupported


def read_whole(path: Path, limit: int) -> bytes:
    """Return all bytes of the file at `path`.

    Raise `SourceUnsupported` if the file has more than `limit` bytes, or `SourceUnreadable` if it cannot be read.
    """
    try:
        with open_for_reading(path) as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise unreadable(error, path) from error
    if len(data) > limit:
        raise SourceUnsupported(f"{path.name} is larger than {limit >> 20} MB, the limit for its format.")
    return data
