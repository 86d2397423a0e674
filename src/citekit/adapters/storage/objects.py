"""Objects on disk, named by the digest of their bytes, fanned out as `ab/cdef...`, read-only."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from attrs import frozen

from citekit.adapters.drivers.files import open_for_reading, sync_file, sync_folder
from citekit.domain.digest import Digest


@frozen
class StoredObject:
    """One object: `linked` tells whether a file elsewhere is a link to it.

    `touched` is when it was made, or such a link, in seconds since the epoch.
    """

    path: Path
    digest: Digest
    size: int
    linked: bool
    touched: float

    @classmethod
    def of(cls, path: Path, digest: Digest, status: os.stat_result) -> Self:
        """The object whose file looks like `status`."""
        return cls(path, digest, status.st_size, status.st_nlink > 1, max(status.st_ctime, status.st_mtime))


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

    def is_intact(self, digest: Digest) -> bool:
        """Whether the object's bytes have its digest; reads them all."""
        try:
            with open_for_reading(self.path(digest)) as file:
                return Digest.of_stream(file) == digest
        except OSError:
            return False

    def take_in(self, made: Path, digest: Digest) -> os.stat_result:
        """Move the file `made`, whose bytes have that digest, to its place; say what it looks like. Raises `OSError`.

        An intact object that lies there already stays, so that what is linked to it stays so, and counts as touched.
        """
        there = self._touched(digest)
        if there is not None:
            return there
        made.chmod(0o444)
        sync_file(made)
        status, path = os.lstat(made), self.path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        made.replace(path)
        sync_folder(path.parent)
        return self.status(digest) or status

    def _touched(self, digest: Digest) -> os.stat_result | None:
        """The status of the object, if it is there and intact, with a new time of change of its inode."""
        status = self.status(digest)
        if status is None or not self.is_intact(digest):
            return None
        with suppress(OSError):
            os.utime(self.path(digest), ns=(status.st_atime_ns, status.st_mtime_ns))
        return self.status(digest)

    def drop(self, digest: Digest) -> StoredObject | None:
        """Remove the object; return what it was, None where there was none. Raises `OSError` where it cannot be removed."""
        path = self.path(digest)
        try:
            status = os.lstat(path)
            path.unlink()
        except FileNotFoundError:
            return None
        return StoredObject.of(path, digest, status)

    def __iter__(self) -> Iterator[StoredObject]:
        """Every object, in no order; those that go meanwhile may be missing."""
        for folder in _entries(self.folder):
            if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                for entry in _entries(Path(folder.path)):
                    with suppress(OSError, ValueError):
                        status = entry.stat(follow_symlinks=False)
                        digest = Digest(folder.name + entry.name)
                        yield StoredObject.of(Path(entry.path), digest, status)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
