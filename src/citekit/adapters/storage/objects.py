"""Objects on disk, named by the digest of their bytes, fanned out as `ab/cdef...`, read-only."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from citekit.adapters.drivers.files import open_for_reading, sync_file, sync_folder
from citekit.domain.digest import Digest

USE_GRAIN = 1.0
"""Seconds to which the time of the last use is kept."""


@frozen
class StoredObject:
    """One object: `used` is when it was last asked for, in nanoseconds since the epoch."""

    path: Path
    digest: Digest
    size: int
    used: int


@frozen
class Objects:
    """The objects under one folder."""

    folder: Path

    def path(self, digest: Digest) -> Path:
        """Where the object with that digest lies or would lie."""
        return self.folder.joinpath(*digest.fan_out)

    def status(self, digest: Digest) -> os.stat_result | None:
        """What the object's file looks like, or None where there is no such file; a link does not count as one."""
        try:
            status = os.lstat(self.path(digest))
        except OSError:
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def touch(self, digest: Digest, status: os.stat_result) -> None:
        """Note that the object was used: in its time of access, its time of change stays."""
        now = time.time_ns()
        if now - status.st_atime_ns > USE_GRAIN * 1e9:
            with suppress(OSError):
                os.utime(self.path(digest), ns=(now, status.st_mtime_ns))

    def is_intact(self, digest: Digest) -> bool:
        """Whether the object's bytes have its digest; reads them all."""
        try:
            with open_for_reading(self.path(digest)) as file:
                return Digest.of_stream(file) == digest
        except OSError:
            return False

    def take_in(self, made: Path, digest: Digest) -> os.stat_result:
        """Move the file `made`, whose bytes have that digest, to its place; say what it looks like. Raises `OSError`.

        An intact object that lies there already stays, so that what is linked to it stays so.
        """
        there = self.status(digest)
        if there is not None and self.is_intact(digest):
            return there
        made.chmod(0o444)
        sync_file(made)
        status = os.lstat(made)
        path = self.path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        made.replace(path)
        sync_folder(path.parent)
        return status

    def drop(self, digest: Digest) -> int:
        """Remove the object; return how many bytes went. Raises `OSError` where it cannot be removed."""
        try:
            status = os.lstat(self.path(digest))
            self.path(digest).unlink()
        except FileNotFoundError:
            return 0
        return status.st_size

    def __iter__(self) -> Iterator[StoredObject]:
        """Every object, in no order; those that go meanwhile may be missing."""
        for folder in _entries(self.folder):
            if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                for entry in _entries(Path(folder.path)):
                    with suppress(OSError, ValueError):
                        status = entry.stat(follow_symlinks=False)
                        digest = Digest(folder.name + entry.name)
                        yield StoredObject(Path(entry.path), digest, status.st_size, status.st_atime_ns)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
