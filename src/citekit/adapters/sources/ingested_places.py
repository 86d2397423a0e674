"""Where the files lie that their owner had mapped, so that an agent may have them cut.

A map cannot vouch for itself: it may come from anybody. What vouches for it is a record beside the maps, of which each line
bears the seal of this very home: the inode and the time of change of an empty file. No program can set that time (POSIX
`st_ctime`), and a home that is copied, unpacked or checked out anew has another: a record that came with it says nothing.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from citekit.adapters.drivers.home_files import make_folder, open_file, read_file
from citekit.domain.errors import HomeUnsafe

FOLDER, SEAL, PLACES = ".ingested", "seal", "places"
"""The folder below that of the maps, hidden so that nothing in it is taken for a map; and what is in it."""

SIZE_LIMIT = 64 * 2**20
"""Bytes of a record that are read."""


class Places(NamedTuple):
    """Real paths: the files that lie right in one of `folders` and are not hidden, and those in `files`."""

    folders: frozenset[str]
    files: frozenset[str]

    def folder_of(self, real: Path) -> Path | None:
        """The folder of a file that is one of these; None for any other."""
        folder = str(real.parent)
        known = str(real) in self.files or (folder in self.folders and not is_hidden(real.name))
        return real.parent if known else None


class IngestedPlaces:
    """The record in a folder of maps. Several processes may write to it at once. No method raises."""

    def __init__(self, maps_folder: Path) -> None:
        self._folder = os.path.join(maps_folder, FOLDER)  # noqa: PTH118 - looked at for every file
        self._lock = threading.Lock()
        self._seen: tuple[object, Places] | None = None

    def places(self) -> Places:
        """What was recorded in this home, as the record is now."""
        seal, looks = _look(self._path(SEAL)), _look(self._path(PLACES))
        seen = self._seen
        if seen is None or seen[0] != (seal, looks):
            self._seen = seen = (seal, looks), self._read(seal)
        return seen[1]

    def remember(self, path: Path) -> None:
        """Note where the file at `path` really lies: its folder, or a hidden file alone."""
        real = Path(os.path.realpath(path))
        with self._lock, suppress(OSError, ValueError):
            if self.places().folder_of(real) is None:
                kind, place = ("file", real) if is_hidden(real.name) else ("folder", real.parent)
                self._append({"seal": self._sealed(), kind: str(place)})

    def _append(self, line: dict[str, str]) -> None:
        """The line begins with its own line break: what a killed writer left unfinished spoils nothing."""
        data = f"\n{json.dumps(line)}\n".encode()
        descriptor = open_file(self._path(PLACES), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _sealed(self) -> str:
        make_folder(self._folder)
        with suppress(FileExistsError):
            os.close(open_file(self._path(SEAL), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        seal = _look(self._path(SEAL))
        if seal is None:
            raise FileNotFoundError(self._path(SEAL))
        return _text(seal)

    def _read(self, seal: _Look | None) -> Places:
        if seal is None:
            return Places(frozenset(), frozenset())
        folders, files, ours = set[str](), set[str](), _text(seal)
        for line in self._lines():
            match line:
                case {"seal": str(sealed), "folder": str(folder)} if sealed == ours:
                    folders.add(folder)
                case {"seal": str(sealed), "file": str(file)} if sealed == ours:
                    files.add(file)
        return Places(frozenset(folders), frozenset(files))

    def _lines(self) -> list[object]:
        try:
            lines = read_file(self._path(PLACES), SIZE_LIMIT).splitlines()
        except (OSError, ValueError, HomeUnsafe):
            return []
        found: list[object] = []
        for line in lines:
            with suppress(ValueError, RecursionError):
                found.append(json.loads(line))
        return found

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)  # noqa: PTH118


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is one that programs keep for themselves: settings, keys, caches."""
    return name.startswith(".")


class _Look(NamedTuple):
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def _look(path: str) -> _Look | None:
    """What a regular file looks like; a link, or anything else, is none."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return _Look(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _text(seal: _Look) -> str:
    return f"{seal.inode}:{seal.ctime_ns}"
