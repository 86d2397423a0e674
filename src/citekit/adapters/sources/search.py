"""Finds files below given folders, nearest first."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

LIMIT = 200_000
"""Maximum number of directory entries that one search visits."""

SKIPPED = frozenset({".git", ".resource_maps", ".citekit_cache", ".citekit_output"})
"""The names of folders that contain no sources."""


def files_below(
    roots: Sequence[Path], size: int, limit: int = LIMIT, allowed: Callable[[Path], bool] = lambda _: True
) -> Iterator[Path]:
    """Yield the regular files of `size` bytes at or below `roots`.

    Links to files are followed if they are `allowed`; links to folders are not followed. Folders in `SKIPPED` are left
    out, and at most `limit` directory entries are visited.
    """
    pending = deque(roots)
    seen: set[tuple[int, int]] = set()
    left = limit
    while pending and left > 0:
        folder = pending.popleft()
        entries = _entries(folder, seen)
        if entries is None:
            if _has_size(folder, size):
                yield folder
            continue
        for entry in entries[:left]:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    pending.append(Path(entry.path))
            elif (not entry.is_symlink() or allowed(Path(entry.path))) and _has_size(Path(entry.path), size):
                yield Path(entry.path)
        left -= len(entries)


def _entries(folder: Path, seen: set[tuple[int, int]]) -> list[os.DirEntry[str]] | None:
    """Return the entries of the folder, sorted by name, or None if it is not a folder.

    The result is empty if the folder was visited before or cannot be read.
    """
    try:
        status = folder.stat()
        if (status.st_dev, status.st_ino) in seen:
            return []
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except NotADirectoryError:
        return None
    except (OSError, ValueError):
        return []
    seen.add((status.st_dev, status.st_ino))
    return entries


def _has_size(path: Path, size: int) -> bool:
    with suppress(OSError, ValueError):
        return path.is_file() and path.stat().st_size == size
    return False
