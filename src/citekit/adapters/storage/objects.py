"""Objects on disk, named by the digest of their bytes, fanned out as `ab/cdef...`, read-only."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from attrs import frozen

from citekit.adapters.system.clock import boot_id
from citekit.adapters.system.file_locks import Locks
from citekit.adapters.system.files import open_home_file, sync_file, sync_folder
from citekit.adapters.system.home_files import check_folder, check_parent, make_folder
from citekit.adapters.system.permissions import EVERYBODY, OWNER, narrow
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable
from citekit.domain.ports.locks import wait_silently

FIRST = tuple(f"{number:02x}" for number in range(256))
"""The names of the folders that the objects are fanned out to."""


@frozen
class StoredObject:
    """One object: `linked` tells whether a file elsewhere is a link to it.

    `touched` is when it was made, or such a link, in seconds since the epoch.
    """

    digest: Digest
    size: int
    linked: bool
    touched: float

    @classmethod
    def of(cls, digest: Digest, status: os.stat_result) -> Self:
        """The object whose file looks like `status`."""
        return cls(digest, status.st_size, status.st_nlink > 1, max(status.st_ctime, status.st_mtime))


@frozen
class Objects:
    """The objects under one folder, and a lock for each of them."""

    folder: Path
    locks: Locks

    @contextmanager
    def turn(self, digest: Digest, waiting: Callable[[], object] = wait_silently) -> Iterator[None]:
        """Hold the object's lock, under which a process decides whether the object stays. A read-only store needs no lock.

        `waiting` is called now and then while it is waited for; what that raises ends the wait.
        """
        with ExitStack() as held:
            with suppress(HomeUnwritable):
                held.enter_context(self.locks.hold(f"object-{digest.hex}", waiting))
            yield

    def path(self, digest: Digest) -> Path:
        """Where the object with that digest lies or would lie. Raises `HomeUnsafe` if a folder on the way is a link."""
        path = self.folder.joinpath(*digest.fan_out)
        check_parent(path)
        return path

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
            with open_home_file(self.path(digest)) as file:
                return Digest.of_stream(file) == digest
        except OSError:
            return False

    def take_in(self, made: Path, digest: Digest, readers: int = EVERYBODY) -> os.stat_result:
        """Move the file `made`, whose bytes have that digest, to its place; say what it looks like. Raises `OSError`.

        An intact object that lies there already stays, so that what is linked to it stays so, and counts as touched.
        Nobody but `readers` may read it, and nobody who might not read `made` or that object.
        Where the run of the machine is known (`boot_id`), nobody waits until the bytes are on the disk: in another run
        they are read again before they are believed.
        """
        narrow(self.path(digest), readers)
        there = self._touched(digest)
        if there is not None:
            return there
        made.chmod(os.lstat(made).st_mode & readers & EVERYBODY | OWNER)  # what was made has the bits of the umask
        if boot_id() is None:
            sync_file(made)
        status, path = os.lstat(made), self.path(digest)
        try:
            made.replace(path)
        except FileNotFoundError:
            make_folder(path.parent)
            made.replace(path)
        except IsADirectoryError:
            shutil.rmtree(path)
            made.replace(path)
        if boot_id() is None:
            sync_folder(path.parent)
        return self.status(digest) or status

    def _touched(self, digest: Digest) -> os.stat_result | None:
        """The status of the object, if it is there and intact, with a new time of change of its inode."""
        if self.status(digest) is None or not self.is_intact(digest):
            return None
        self.touch(digest)
        return self.status(digest)

    def touch(self, digest: Digest) -> None:
        """Give the object's inode a new time of change (where the system keeps one), and nothing else."""
        status = self.status(digest)
        if status is not None:
            with suppress(OSError):
                os.utime(self.path(digest), ns=(status.st_atime_ns, status.st_mtime_ns))

    def drop(self, digest: Digest) -> StoredObject | None:
        """Remove the object; return what it was, None where there was none. Raises `OSError` where it cannot be removed.

        Whatever else somebody put under its name goes, too: a link, or a folder.
        """
        path = self.path(digest)
        try:
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                shutil.rmtree(path)
            else:
                path.unlink()
        except FileNotFoundError:
            return None
        return StoredObject.of(digest, status)

    def __iter__(self) -> Iterator[StoredObject]:
        """Every object, in no order; objects that are removed during the call may be missing."""
        for first in FIRST:
            yield from self.beginning(first)

    def beginning(self, first: str) -> Iterator[StoredObject]:
        """Every object whose digest begins with these two digits, in no order. Raises `HomeUnsafe` if a folder is a link."""
        check_folder(self.folder / first)
        with suppress(OSError), os.scandir(self.folder / first) as entries:
            for entry in entries:
                with suppress(OSError, ValueError):
                    yield StoredObject.of(Digest(first + entry.name), entry.stat(follow_symlinks=False))
