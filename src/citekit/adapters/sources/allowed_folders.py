"""Determines which files a caller other than the user of the computer, such as an agent, may name and read."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from itertools import pairwise, takewhile
from pathlib import Path, PurePath
from typing import NamedTuple

from citekit.adapters.sources.ingested_files import IngestedPlaces, is_hidden
from citekit.adapters.system.file_state import COARSE, FileState
from citekit.domain.errors import PathNotAllowed


class Look(NamedTuple):
    """The state of a file or folder, and whether any further change would be visible."""

    state: FileState
    tells: bool

    def is_still(self, later: Look) -> bool:
        """Return whether it is unchanged."""
        return self.tells and self.state == later.state


Way = tuple[Look, ...]
"""The states of a file and of each parent folder up to the allowed one."""

RENAMES_SHOW = os.name != "nt"
"""Whether a rename updates the change time of the renamed file itself, not only that of its folder."""

PATIENCE = 1.5 * COARSE
"""Maximum wait in seconds after a recent change, until a further change would be visible."""

STEP = 0.02


class OwnersFolders:
    """`Folders` for users on their own computer, who may read any file. Records ingested files for other callers."""

    def __init__(self, ingested: IngestedPlaces) -> None:
        self._ingested = ingested

    def check(self, path: Path) -> Path:
        """Return `path` unchanged."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def remember(self, path: Path) -> None:
        """Record the location of the ingested file."""
        self._ingested.remember(path)


class AllowedFolders:
    """`Folders` limited to files below given folders, and in the folders of ingested files.

    Hidden files, and files in hidden folders, are excluded unless the user ingested that file. Links and `..` are
    resolved before the check. Network paths (`\\\\server\\share`) and device paths (`\\\\.\\`, `\\\\?\\`) are never accessed,
    because even a `stat` may send credentials to another computer.
    """

    def __init__(self, folders: Sequence[Path], ingested: IngestedPlaces | None = None) -> None:
        """`folders` are those that the user named, or the defaults."""
        self._named = tuple(Path(os.path.realpath(folder)) for folder in folders)
        self._shown = tuple(map(str, folders))
        self._ingested = ingested
        self._offered: tuple[Path, ...] = ()
        self._unresolved: tuple[Path, ...] = ()

    @property
    def offered(self) -> tuple[Path, ...]:
        """The folders that the client offers."""
        return self._offered

    def offer(self, folders: Sequence[Path]) -> None:
        """Allow files below these folders instead of those offered before. The root of a drive is not accepted."""
        real = (Path(os.path.realpath(folder)) for folder in folders)
        self._offered = tuple(dict.fromkeys(folder for folder in real if folder.parent != folder))
        self._unresolved = tuple(folder for folder in folders if folder.parent != folder)

    def check(self, path: Path) -> Path:
        """Return the real path. Raises `PathNotAllowed`."""
        real = self._real(path)
        if real is None or self._holder(real) is None:
            raise self._outside(path)
        return real

    def covers(self, path: Path) -> bool:
        """Return whether the real path is allowed."""
        real = self._real(path)
        return real is not None and self._holder(real) is not None

    def tells(self, path: PurePath) -> bool:
        """Return whether the path may be named as written. Does not access the file system."""
        if any(_is_below(path, folder) for folder in (*self._all(), *map(Path, self._shown), *self._unresolved)):
            return True
        return self._ingested is not None and self._ingested.places().folder_of(Path(path)) is not None

    def remember(self, path: Path) -> None:
        """Do nothing: a restricted caller cannot extend the allowed files."""

    def way(self, real: Path) -> Way:
        """Return the states of the path to the file `real`, which `check` returned, for `is_same`.

        Waits briefly if a recent change would hide another one. Raises `PathNotAllowed`.
        """
        deadline = time.monotonic() + PATIENCE
        way = self._looks(real)
        while not _is_same(way, way):
            if time.monotonic() > deadline:
                raise self.unsteady(real)
            time.sleep(STEP)
            way = self._looks(real)
        return way

    def is_same(self, real: Path, way: Way) -> bool:
        """Return whether the file at `real` is unchanged and no folder on its path was replaced.

        A rename updates the change time (POSIX `st_ctime`), which no program can set, of the renamed entry and of its
        folder. Therefore a replacement is visible even if it was reverted. If only one of the two has changed, there
        was no replacement: other files were added to the folder or to its parent.
        """
        try:
            return _is_same(way, self._looks(real))
        except PathNotAllowed:
            return False

    def unsteady(self, path: Path) -> PathNotAllowed:
        """Return the error for a path on which something is being replaced."""
        text = f"{path}, or a folder in its path, is being changed. Try again later."
        return PathNotAllowed(text, str(path))

    def _looks(self, real: Path) -> Way:
        holder = None if os.path.realpath(real) != str(real) else self._holder(real)
        if holder is None:
            raise self._outside(real)
        between = takewhile(lambda folder: folder != holder, (real, *real.parents))
        now = time.time()
        try:
            found = [os.lstat(place) for place in (*between, holder)]
        except OSError as error:
            raise self._outside(real) from error
        if any(stat.S_ISLNK(status.st_mode) for status in found):
            raise self._outside(real)
        states = map(FileState.of, found)
        return tuple(Look(state, state.tells(now)) for state in states)

    def _real(self, path: Path) -> Path | None:
        """Return the path with links resolved, or None if it must not be accessed or cannot be resolved."""
        if "\0" in str(path) or (_is_elsewhere(path) and not any(path.is_relative_to(each) for each in self._all())):
            return None
        try:
            return Path(os.path.realpath(path))
        except (OSError, ValueError):
            return None

    def _holder(self, real: Path) -> Path | None:
        """Return the innermost allowed folder that contains a real path."""
        held = (folder for folder in self._all() if _is_below(real, folder))
        innermost = max(held, key=lambda folder: len(folder.parts), default=None)
        if innermost is None and self._ingested is not None:
            return self._ingested.places().folder_of(real)
        return innermost

    def _all(self) -> tuple[Path, ...]:
        return (*self._named, *self._offered)

    def _outside(self, path: Path) -> PathNotAllowed:
        shown = str(path).encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        allowed = ", ".join((*self._shown, *map(str, self._offered)))
        return PathNotAllowed(
            f"{shown} is hidden, or outside the folders that may be read here ({allowed}, and the folders of ingested "
            "files). To allow the file, its owner can ingest it (citekit ingest FILE); to allow its folder, add the "
            "folder to CITEKIT_ROOTS.",
            shown,
        )


def _is_same(before: Way, after: Way) -> bool:
    if len(before) != len(after) or not before[0].is_still(after[0]):
        return False
    folders = list(zip(before, after, strict=True))[1:]
    return all(_is_unmoved(*folder, *above) for folder, above in pairwise(folders))


def _is_unmoved(before: Look, after: Look, above_before: Look, above_after: Look) -> bool:
    """Return whether a folder was not renamed: a rename would have changed both it and its parent."""
    if before.state[:2] != after.state[:2]:
        return False
    return above_before.is_still(above_after) or (RENAMES_SHOW and before.is_still(after))


def _is_elsewhere(path: Path) -> bool:
    """Return whether a path names another computer or a device: `\\\\server\\share`, `\\\\.\\`, `\\\\?\\`; `//` on POSIX."""
    return path.drive.startswith("\\\\") or str(path).startswith("//")


def _is_below(real: PurePath, folder: Path) -> bool:
    return real.is_relative_to(folder) and not any(map(is_hidden, real.relative_to(folder).parts))
