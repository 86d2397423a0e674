"""The paths where a map's file can be. Imports almost nothing, so that listing maps starts fast."""

from __future__ import annotations

import os


def written_places(source_path: str, home: str) -> tuple[str, ...]:
    """Return the paths to check, in order; empty if the map has no file.

    A relative path in an older map is relative to `home`, and its file may have been moved directly into the home.
    """
    if not source_path:
        return ()
    written = _clean(source_path)
    if os.path.isabs(written):  # noqa: PTH117 - pathlib is slow to import
        return (written,)
    return os.path.join(home, written), os.path.join(home, os.path.basename(written))  # noqa: PTH118, PTH119


def _clean(path: str) -> str:
    """Return a normalized path: `a//b/./c/` becomes `a/b/c`."""
    if os.path.normpath(path) == path:
        return path
    from pathlib import Path

    return str(Path(path))
