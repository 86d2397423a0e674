"""Checks map paths from the command line, because the home can come from an untrusted source."""

from __future__ import annotations

import os
from pathlib import Path

from citekit.adapters.system.home_files import check_parent, is_in_home, unsafe


def check_map_path(path: Path) -> None:
    """Raise `HomeUnsafe` if a map file in a home is a link that leads out of its folder, or is reached through a link.

    A link between two maps of the same folder is allowed, and so is any path outside of homes.
    """
    if not is_in_home(path):
        return
    check_parent(path)
    folder = os.path.join(os.path.realpath(path.parent), "")  # noqa: PTH118
    if path.is_symlink() and not os.path.realpath(path).startswith(folder):
        raise unsafe(str(path))
