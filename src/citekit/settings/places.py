"""Defines the folders in the home folder, and finds the home folder."""

# ruff: noqa: PTH111, PTH112, PTH116, PTH117, PTH118 - importing pathlib would slow each start by 3 ms

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAPS, OUTPUT, CACHE, LIBRARY, UPLOADS = (
    ".resource_maps",
    ".citekit_output",
    ".citekit_cache",
    ".citekit_library",
    ".citekit_uploads",
)
"""The names of the folders in a home."""

PERSONAL = "@personal"
"""The name of the personal home of the user. A folder of that name is `./@personal`."""


def home_named(environment: Mapping[str, str], home: str | Path | None = None) -> str:
    """Return `home`, or else `CITEKIT_HOME`, or else the current folder, as the user wrote it.

    The path of the personal home replaces `@personal`. Raise `RequestRefused` if the user has none.
    """
    named = str(home or environment.get("CITEKIT_HOME") or ".")
    if named != PERSONAL:
        return named
    personal = personal_home(environment)
    if personal is None:
        from citekit.domain.errors import RequestRefused

        raise RequestRefused(
            f"{PERSONAL} is unknown, because this user has no home directory. Give the path of a folder."
        )
    return personal


def personal_home(environment: Mapping[str, str]) -> str | None:
    """Return the path of the personal home, or None if the user has no home directory.

    It is the folder `citekit` in `XDG_DATA_HOME`, or in the default of the platform.
    """
    data = environment.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # a relative path is invalid by the XDG Base Directory Specification
        data = _data_folder(environment)
    return os.path.join(data, "citekit") if os.path.isabs(data) else None


def viewer_folder(environment: Mapping[str, str]) -> str | None:
    """Return the folder with the viewer's key and the list of viewed homes, or None if the user has no home directory.

    It is in `XDG_STATE_HOME`, or in the default of the platform.
    """
    state = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        is_unix = sys.platform not in ("win32", "darwin")
        state = os.path.expanduser("~/.local/state") if is_unix else _data_folder(environment)
    return os.path.join(state, "citekit-viewer") if os.path.isabs(state) else None


def models_folder(environment: Mapping[str, str]) -> str | None:
    """Return the folder of downloaded models, next to the personal home, or None if the user has no home directory."""
    personal = personal_home(environment)
    return None if personal is None else f"{personal}-models"


def _data_folder(environment: Mapping[str, str]) -> str:
    match sys.platform:
        case "win32":
            return environment.get("LOCALAPPDATA", "")
        case "darwin":
            return os.path.expanduser("~/Library/Application Support")
    return os.path.expanduser("~/.local/share")


def home_of_commands(environment: Mapping[str, str], home: str | None = None) -> str | None:
    """Return the home that a command uses: `home`, which is the value of `--home`, or else `@personal` or None.

    It is `@personal` if `CITEKIT_HOME` is not set, the current folder is not a home, and the personal home exists and
    belongs to the user. None means `CITEKIT_HOME`, or else the current folder. Folders above the current one are not
    searched: somebody else may have put a home there.
    """
    if home or environment.get("CITEKIT_HOME") or is_home("."):
        return home
    personal = personal_home(environment)
    return PERSONAL if personal is not None and is_home(personal) and _is_own(personal) else None


def is_home(folder: str) -> bool:
    """Return whether a folder is a home: it has maps, outputs, or a library, not only a cache."""
    return any(os.path.isdir(os.path.join(folder, name)) for name in (MAPS, OUTPUT, LIBRARY))


def _is_own(folder: str) -> bool:
    if sys.platform == "win32":
        return True
    try:
        return os.stat(folder).st_uid == os.geteuid()
    except OSError:
        return False
