"""Decides which files a restricted caller, such as an agent, may name and read."""

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
    """The state of a file or folder at one time. `tells` is true if any later change would also change the recorded state."""

    state: FileState
    tells: bool

    def is_still(self, later: Look) -> bool:
        """Return whether the file or folder is certainly unchanged in the later state `later`."""
        return self.tells and self.state == later.state


Way = tuple[Look, ...]
"""The states of a file and of each parent folder up to the allowed folder."""

RENAMES_SHOW = os.name != "nt"
"""Whether a rename updates the change time of the renamed file itself, not only that of its folder."""

PATIENCE = 1.5 * COARSE
"""Maximum wait in seconds after a recent change, until a further change would be visible."""

STEP = 0.02


class OwnersFolders:
    """`Folders` without restrictions, for users on their own computer.

    It records ingested files, so that restricted callers can read them later.
    """

    def __init__(self, ingested: IngestedPlaces) -> None:
        self._ingested = ingested

    def check(self, path: Path) -> Path:
        """Return `path` unchanged."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def remember(self, path: Path) -> None:
        """Record the path of an ingested file."""
        self._ingested.remember(path)


class AllowedFolders:
    r"""`Folders` that allows only files below given folders and in the folders of ingested files.

    Hidden files and files in hidden folders are excluded unless the user ingested them. Links and `..` are resolved
    before the check. Network paths (`\\server\share`) and device paths (`\\.\`, `\\?\`) outside of the given folders
    are not accessed, because even a `stat` call may send credentials to another computer.
    """

    def __init__(self, folders: Sequence[Path], ingested: IngestedPlaces | None = None) -> None:
        """Allow files below `folders` and files in `ingested`."""
        self._named = tuple(Path(os.path.realpath(folder)) for folder in folders)
        self._shown = tuple(map(str, folders))
        self._ingested = ingested
        self._offered: tuple[Path, ...] = ()
        self._unresolved: tuple[Path, ...] = ()

    @property
    def offered(self) -> tuple[Path, ...]:
        """The folders that the MCP client has offered as its roots, with links resolved. Files below them are allowed."""
        return self._offered

    def offer(self, folders: Sequence[Path]) -> None:
        """Allow files below `folders`, which replace those of an earlier call, in addition to the configured folders.

        The root of a drive is not accepted.
        """
        real = (Path(os.path.realpath(folder)) for folder in folders)
        self._offered = tuple(dict.fromkeys(folder for folder in real if folder.parent != folder))
        self._unresolved = tuple(folder for folder in folders if folder.parent != folder)

    def check(self, path: Path) -> Path:
        """See `Folders.check`."""
        real = self._real(path)
        if real is None or self._holder(real) is None:
            raise self._outside(path)
        return real

    def covers(self, path: Path) -> bool:
        """See `Folders.covers`."""
        real = self._real(path)
        return real is not None and self._holder(real) is not None

    def tells(self, path: PurePath) -> bool:
        """Return whether a message to the caller may contain `path` as it is written. The file is not accessed."""
        if any(_is_below(path, folder) for folder in (*self._all(), *map(Path, self._shown), *self._unresolved)):
            return True
        return self._ingested is not None and self._ingested.places().folder_of(Path(path)) is not None

    def remember(self, path: Path) -> None:
        """Do nothing, because a restricted caller must not extend the allowed files."""

    def way(self, real: Path) -> Way:
        """Return the states of the file `real` and of its parent folders, up to the allowed folder, for `is_same`.

        `real` is a path that `check` returned. After a recent change, wait briefly, because a second one could go
        unnoticed. Raise `PathNotAllowed` if the changes continue or the path is no longer allowed.
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
        """Return whether the file at `real` is unchanged since `way`, and no folder above it was replaced.

        A rename updates the change time (POSIX `st_ctime`) of a file or folder, which programs cannot set, and that of
        its parent folder. A replacement is therefore visible even if it was reverted.
        """
        try:
            return _is_same(way, self._looks(real))
        except PathNotAllowed:
            return False

    def unsteady(self, path: Path) -> PathNotAllowed:
        """Return the error for a path if the file, or a folder on the path, is being changed."""
        text = f"{path}, or a folder in its path, is being changed. Try again later."
        return PathNotAllowed(text, str(path))

    def _looks(self, real: Path) -> Way:
        holder = self._holder(real)
        if holder is None:
            raise self._outside(real)
        between = takewhile(lambda folder: folder != holder, (real, *real.parents))
        now = time.time()
        try:
            if os.path.realpath(real) != str(real):  # raises if a link is removed at the same time
                raise self._outside(real)
            found = [os.lstat(place) for place in (*between, holder)]
        except OSError as error:
            raise self._outside(real) from error
        if any(stat.S_ISLNK(status.st_mode) for status in found):
            raise self._outside(real)
        states = map(FileState.of, found)
        return tuple(Look(state, state.tells(now)) for state in states)

    def _real(self, path: Path) -> Path | None:
        """Return `path` with links resolved; None if it must not be accessed or cannot be resolved."""
        if "\0" in str(path) or (_is_elsewhere(path) and not any(path.is_relative_to(each) for each in self._all())):
            return None
        try:
            return Path(os.path.realpath(path))
        except (OSError, ValueError):
            return None

    def _holder(self, real: Path) -> Path | None:
        """Return the innermost allowed folder that contains the path `real`; None if there is none."""
        held = (folder for folder in self._all() if _is_below(real, folder))
        innermost = max(held, key=lambda folder: len(folder.parts), default=None)
        if innermost is None and self._ingested is not None:
            return self._ingested.places().folder_of(real)
        return innermost

    def _all(self) -> tuple[Path, ...]:
        return (*self._named, *self._offered)

    def _outside(self, path: Path) -> PathNotAllowed:
        shown = str(path).encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        folders = [*self._shown, *map(str, self._offered)]
        if self._ingested is not None:
            folders.append("the folders of ingested files")
        allowed = ", ".join(folders) or "none"
        if is_hidden(path.name):  # its folder in CITEKIT_ROOTS would not allow it
            remedy = (
                "To allow a hidden file, its owner can ingest it (citekit ingest FILE); to allow a hidden folder, add that "
                "folder to CITEKIT_ROOTS."
            )
        elif self._ingested is None:
            remedy = "To allow its folder, add the folder to CITEKIT_ROOTS."
        else:
            remedy = (
                "To allow the file, its owner can ingest it (citekit ingest FILE); to allow its folder, add the folder to "
                "CITEKIT_ROOTS."
            )
        return PathNotAllowed(
            f"{shown} is hidden, or outside the folders that may be read here ({allowed}). {remedy}", shown
        )


def _is_same(before: Way, after: Way) -> bool:
    if len(before) != len(after) or not before[0].is_still(after[0]):
        return False
    folders = list(zip(before, after, strict=True))[1:]
    return all(_is_unmoved(*folder, *above) for folder, above in pairwise(folders))


def _is_unmoved(before: Look, after: Look, above_before: Look, above_after: Look) -> bool:
    """Return whether a folder was not renamed or replaced between two recorded states.

    A rename would have changed both the folder and its parent (`above_before`, `above_after`).
    """
    if before.state[:2] != after.state[:2]:
        return False
    return above_before.is_still(above_after) or (RENAMES_SHOW and before.is_still(after))


def _is_elsewhere(path: Path) -> bool:
    r"""Return whether `path` refers to another computer or a device.

    Such paths start with `\\server\share`, `\\.\`, or `\\?\` on Windows, or with `//` on POSIX systems.
    """
    return path.drive.startswith("\\\\") or str(path).startswith("//")


def _is_below(real: PurePath, folder: Path) -> bool:
    return real.is_relative_to(folder) and not any(map(is_hidden, real.relative_to(folder).parts))
