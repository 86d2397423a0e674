"""The files that a caller other than the owner of the computer, such as an agent, may name and read."""

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
    """What a file or folder looks like, and whether any other change of it would show."""

    state: FileState
    tells: bool

    def is_still(self, later: Look) -> bool:
        """Whether nothing about it has changed since."""
        return self.tells and self.state == later.state


Way = tuple[Look, ...]
"""A file, and each folder above it up to the one that is allowed."""

RENAMES_SHOW = os.name != "nt"
"""Whether what is renamed gets another time of change itself, and not only the folder that it is in."""

PATIENCE = 1.5 * COARSE
"""Seconds for which a file that was changed just now is waited for, until another change would show."""

STEP = 0.02


class OwnersFolders:
    """`Folders` of who works on their own machine: any. What they had mapped is recorded for others."""

    def __init__(self, ingested: IngestedPlaces) -> None:
        self._ingested = ingested

    def check(self, path: Path) -> Path:
        """`path` itself."""
        return path

    def covers(self, path: Path) -> bool:  # noqa: ARG002
        """True."""
        return True

    def remember(self, path: Path) -> None:
        """Note where the file lies."""
        self._ingested.remember(path)


class AllowedFolders:
    """`Folders`: what is really below one of some folders, and files in the very folders of files that were ingested.

    Hidden files and what is in hidden folders do not count, unless the owner ingested that very file. Links are followed
    before anything is decided, `..` with them; nothing is looked at on other computers (`\\\\server\\share`) or in the
    namespace of devices (`\\\\.\\`, `\\\\?\\`), since a mere look at such a path may send a password out.
    """

    def __init__(self, folders: Sequence[Path], ingested: IngestedPlaces | None = None) -> None:
        """`folders` are those that the owner named, or the defaults."""
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
        """Allow what is below these as well, and no longer what was offered before. A whole drive is no offer."""
        real = (Path(os.path.realpath(folder)) for folder in folders)
        self._offered = tuple(dict.fromkeys(folder for folder in real if folder.parent != folder))
        self._unresolved = tuple(folder for folder in folders if folder.parent != folder)

    def check(self, path: Path) -> Path:
        """The real path. Raises `PathNotAllowed`."""
        real = self._real(path)
        if real is None or self._holder(real) is None:
            raise self._outside(path)
        return real

    def covers(self, path: Path) -> bool:
        """Whether the real path is one of these."""
        real = self._real(path)
        return real is not None and self._holder(real) is not None

    def tells(self, path: PurePath) -> bool:
        """Whether the path, as it is written, is one that may be named: nothing is looked at, no link is followed."""
        if any(_is_below(path, folder) for folder in (*self._all(), *map(Path, self._shown), *self._unresolved)):
            return True
        return self._ingested is not None and self._ingested.places().folder_of(Path(path)) is not None

    def remember(self, path: Path) -> None:
        """Nothing: who may not name every file does not widen what may be named."""

    def way(self, real: Path) -> Way:
        """What leads to the file at `real`, which `check` gave, for `is_same`.

        Waits a moment where a change was so lately that another would not show. Raises `PathNotAllowed`.
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
        """Whether the file at `real` looks as it did, and no folder that leads to it was exchanged.

        What is renamed gets another time of change (POSIX `st_ctime`), which nobody can set, and so does the folder that it
        is in: an exchange shows even where it was taken back. Where only one of both has changed there was none: other files
        have come into the folder, or into the one above.
        """
        try:
            return _is_same(way, self._looks(real))
        except PathNotAllowed:
            return False

    def unsteady(self, path: Path) -> PathNotAllowed:
        """The error for a path on which something is being exchanged."""
        text = f"{path} is being changed, or what leads to it is: ask again when that is done."
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
        """The path with its links followed; None for one that must not even be looked at, or cannot be."""
        if "\0" in str(path) or (_is_elsewhere(path) and not any(path.is_relative_to(each) for each in self._all())):
            return None
        try:
            return Path(os.path.realpath(path))
        except (OSError, ValueError):
            return None

    def _holder(self, real: Path) -> Path | None:
        """The innermost allowed folder that holds a real path."""
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
            f"{shown} is outside the folders that may be read here ({allowed}, and those of ingested files), or hidden: its "
            "owner can allow it by ingesting it (citekit ingest FILE), or its folder by CITEKIT_ROOTS.",
            shown,
        )


def _is_same(before: Way, after: Way) -> bool:
    if len(before) != len(after) or not before[0].is_still(after[0]):
        return False
    folders = list(zip(before, after, strict=True))[1:]
    return all(_is_unmoved(*folder, *above) for folder, above in pairwise(folders))


def _is_unmoved(before: Look, after: Look, above_before: Look, above_after: Look) -> bool:
    """Whether a folder has kept its name: one of it and the folder above would have to have changed for sure."""
    if before.state[:2] != after.state[:2]:
        return False
    return above_before.is_still(above_after) or (RENAMES_SHOW and before.is_still(after))


def _is_elsewhere(path: Path) -> bool:
    """Whether a path names another computer or a device: `\\\\server\\share`, `\\\\.\\`, `\\\\?\\`; POSIX's `//`."""
    return path.drive.startswith("\\\\") or str(path).startswith("//")


def _is_below(real: PurePath, folder: Path) -> bool:
    return real.is_relative_to(folder) and not any(map(is_hidden, real.relative_to(folder).parts))
