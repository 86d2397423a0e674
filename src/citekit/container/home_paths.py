"""Checks paths of map files given on the command line, because the contents of the home may be untrusted."""

from __future__ import annotations

import os
from pathlib import Path

from citekit.adapters.system.home_files import check_parent, is_in_home, unsafe


def check_map_path(path: Path) -> None:
    """Raise `HomeUnsafe` if a map file in a home is a symbolic link out of its folder, or if its folder is reached by a
    link.

    A link between two maps in the same folder is allowed.
    """
    if not is_in_home(path):
        return
    check_parent(path)
    folder = os.path.join(os.path.realpath(path.parent), "")  # noqa: PTH118
    if path.is_symlink() and not os.path.realpath(path).startswith(folder):
        raise unsafe(str(path))
