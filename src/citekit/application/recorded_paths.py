"""Where a map says that its file is. Imports next to nothing: a listing of maps starts as fast as a bare program with it."""

from __future__ import annotations

import os


def written_places(source_path: str, home: str) -> tuple[str, ...]:
    """The paths to look at, in their order; none where the map names no file.

    A relative path of an older map is relative to `home`, and its file may have been moved right into that.
    """
    if not source_path:
        return ()
    written = _clean(source_path)
    if os.path.isabs(written):  # noqa: PTH117 - pathlib is slow to import
        return (written,)
    return os.path.join(home, written), os.path.join(home, os.path.basename(written))  # noqa: PTH118, PTH119


def _clean(path: str) -> str:
    """A path without idle parts: `a//b/./c/` is `a/b/c`."""
    if os.path.normpath(path) == path:
        return path
    from pathlib import Path

    return str(Path(path))
