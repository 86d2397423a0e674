"""Derives the paths at which the source of a map may be. Imports little, so that listing maps starts quickly."""

from __future__ import annotations

import os


def written_places(source_path: str, home: str) -> tuple[str, ...]:
    """Return the paths at which to look for the source file of a map, in order.

    A relative path, as in older maps, is relative to the folder `home`, and its file may have been moved to the top of
    `home`.
    """
    if not source_path:
        return ()
    written = _clean(source_path)
    if os.path.isabs(written):  # noqa: PTH117 - pathlib is slow to import
        return (written,)
    return os.path.join(home, written), os.path.join(home, os.path.basename(written))  # noqa: PTH118, PTH119


def _clean(path: str) -> str:
    """Return the normalized form of `path`: `a//b/./c/` becomes `a/b/c`."""
    if os.path.normpath(path) == path:
        return path
    from pathlib import Path

    return str(Path(path))
