"""Records where ingested files are, so that an agent may extract from them.

A map is not sufficient, because it may come from anybody. Each line of the record has an authentication code of the
home seal (`HomeSeal`), so a record from elsewhere, or a line that `git pull` added, has no effect.

Records of version 1.0 had the inode and change time of an empty file instead. Such lines are valid until the user
ingests another file, when they are rewritten with codes.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from citekit.adapters.system.files import write_atomically
from citekit.adapters.system.home_files import open_file, read_file, write_all
from citekit.adapters.system.home_seal import HomeSeal, unhex
from citekit.domain.errors import CiteKitError, HomeUnsafe

FOLDER, EARLY_SEAL, PLACES = ".ingested", "seal", "places"
"""A hidden folder below the maps folder, and the names of files in it."""

SIZE_LIMIT = 64 * 2**20
"""Maximum size of a record that is read, in bytes."""


class Places(NamedTuple):
    """The recorded real paths: `folders`, each of which stands for the visible files directly in it, and single
    `files`.
    """

    folders: frozenset[str]
    files: frozenset[str]

    def folder_of(self, real: Path) -> Path | None:
        """Return the folder of a recorded file, or None for any other file."""
        folder = str(real.parent)
        known = str(real) in self.files or (folder in self.folders and not is_hidden(real.name))
        return real.parent if known else None


class IngestedPlaces:
    """The record in a maps folder. Several processes may write to it at once. Failures are ignored."""

    def __init__(self, maps_folder: Path) -> None:
        self._folder = os.path.join(maps_folder, FOLDER)  # noqa: PTH118 - looked at for every file
        self._seal = HomeSeal(self._folder)
        self._lock = threading.Lock()
        self._seen: tuple[object, Places] | None = None

    def places(self) -> Places:
        """Return the current record of this home."""
        state = self._seal.state() or _look(self._path(EARLY_SEAL)), _look(self._path(PLACES))
        seen = self._seen
        if seen is None or seen[0] != state:
            self._seen = seen = state, self._read()
        return seen[1]

    def remember(self, path: Path) -> None:
        """Record the real path of the file's folder, or of the file alone if it is hidden."""
        real = Path(os.path.realpath(path))
        with self._lock, suppress(OSError, ValueError, CiteKitError):
            if self.places().folder_of(real) is None:
                self._rewrite_early_lines()
                kind, place = ("file", real) if is_hidden(real.name) else ("folder", real.parent)
                self._append(self._line(kind, str(place)))

    def _append(self, line: str) -> None:
        """Append a line after a line break, so that an incomplete line of a killed process does no harm."""
        descriptor = open_file(self._path(PLACES), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            write_all(descriptor, f"\n{line}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _line(self, kind: str, place: str) -> str:
        return json.dumps({"code": self._seal.code(*_parts(kind, place)).hex(), kind: place})

    def _rewrite_early_lines(self) -> None:
        """Give lines of version 1.0 a code. After an interruption, this is repeated next time."""
        if _look(self._path(EARLY_SEAL)) is not None:
            lines = [self._line(kind, place) for kind, place in self._recorded()]
            write_atomically(Path(self._path(PLACES)), "".join(f"{line}\n" for line in lines).encode())
            os.unlink(self._path(EARLY_SEAL))  # noqa: PTH108

    def _read(self) -> Places:
        recorded = list(self._recorded())
        return Places(*(frozenset(place for kind, place in recorded if kind == each) for each in ("folder", "file")))

    def _recorded(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and path of each line with a valid code of this home, or with a valid seal of version 1.0."""
        early = _early_seal(self._path(EARLY_SEAL))
        for line in self._lines():
            match line:
                case {"folder": str(place)}:
                    kind = "folder"
                case {"file": str(place)}:
                    kind = "file"
                case _:
                    continue
            if (early is not None and line.get("seal") == early) or self._seal.holds(
                unhex(line.get("code")), *_parts(kind, place)
            ):
                yield kind, place

    def _lines(self) -> list[dict[str, object]]:
        try:
            lines = read_file(self._path(PLACES), SIZE_LIMIT).splitlines()
        except (OSError, ValueError, HomeUnsafe):
            return []
        found: list[dict[str, object]] = []
        for line in lines:
            with suppress(ValueError, RecursionError):
                plain = json.loads(line)
                found += [plain] if isinstance(plain, dict) else []
        return found

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)  # noqa: PTH118


def is_hidden(name: str) -> bool:
    """Return whether a file or folder with that name is hidden."""
    return name.startswith(".")


class _Look(NamedTuple):
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def _look(path: str) -> _Look | None:
    """Return the state of a regular file; None for a link or anything else."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return _Look(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _early_seal(path: str) -> str | None:
    """Return the seal of lines of version 1.0, or None if there is no such seal."""
    seal = _look(path)
    return None if seal is None else f"{seal.inode}:{seal.ctime_ns}"


def _parts(kind: str, place: str) -> tuple[bytes, bytes]:
    return kind.encode(), os.fsencode(place)
