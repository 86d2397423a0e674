"""Read-only objects on disk, named by the digest of their bytes and fanned out as `ab/cdef...`."""

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
from citekit.adapters.system.home_files import check_folder, check_parent, make_folder, remove_tree
from citekit.adapters.system.permissions import EVERYBODY, OWNER, narrow
from citekit.domain.digest import Digest
from citekit.domain.errors import HomeUnwritable
from citekit.domain.ports.locks import wait_silently

FIRST = tuple(f"{number:02x}" for number in range(256))
"""Names of the folders among which the objects are distributed."""


@frozen
class StoredObject:
    """One object. `linked` is whether another file is a hard link to it.

    `touched` is when it was created, linked, or touched, in seconds since the epoch.
    """

    digest: Digest
    size: int
    linked: bool
    touched: float

    @classmethod
    def of(cls, digest: Digest, status: os.stat_result) -> Self:
        """Return the object whose file has that status."""
        return cls(digest, status.st_size, status.st_nlink > 1, max(status.st_ctime, status.st_mtime))


@frozen
class Objects:
    """The objects in one folder, with a lock for each."""

    folder: Path
    locks: Locks

    @contextmanager
    def turn(self, digest: Digest, waiting: Callable[[], object] = wait_silently) -> Iterator[None]:
        """Hold the object's lock, which is required to remove the object. In a read-only store, no lock is held.

        `waiting` is called periodically; an exception that it raises ends the wait.
        """
        with ExitStack() as held:
            with suppress(HomeUnwritable):
                held.enter_context(self.locks.hold(f"object-{digest.hex}", waiting))
            yield

    def path(self, digest: Digest) -> Path:
        """Return the path of the object. Raise `HomeUnsafe` if a folder on the path is a link."""
        path = self.folder.joinpath(*digest.fan_out)
        check_parent(path)
        return path

    def status(self, digest: Digest) -> os.stat_result | None:
        """Return the status of the object's file, or None if there is no regular file."""
        try:
            status = os.lstat(self.path(digest))
        except OSError:
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def is_intact(self, digest: Digest) -> bool:
        """Return whether the object's bytes match its digest; False if it cannot be read. All bytes are read."""
        try:
            with open_home_file(self.path(digest)) as file:
                return Digest.of_stream(file) == digest
        except OSError:
            return False

    def take_in(self, made: Path, digest: Digest, readers: int = EVERYBODY) -> os.stat_result:
        """Move the file `made`, whose bytes have that digest, into the store, and return its status.

        Raise `OSError` if it cannot be moved. An intact object that exists is kept and touched, so that hard links to
        it stay valid. At most the owner and `readers` (permission bits) may read the result. If the boot ID is known,
        this method does not wait for the disk: after a reboot, the bytes are verified before use.
        """
        narrow(self.path(digest), readers)
        there = self._touched(digest)
        if there is not None:
            return there
        # the umask determined the permissions of the new file
        made.chmod(os.lstat(made).st_mode & readers & EVERYBODY | OWNER)
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
        """Return the status of the object after a touch, or None if the object is missing or damaged."""
        if self.status(digest) is None or not self.is_intact(digest):
            return None
        self.touch(digest)
        return self.status(digest)

    def touch(self, digest: Digest) -> None:
        """Update the change time of the object's inode, if the system supports it, and nothing else."""
        status = self.status(digest)
        if status is not None:
            with suppress(OSError):
                os.utime(self.path(digest), ns=(status.st_atime_ns, status.st_mtime_ns))

    def drop(self, digest: Digest) -> StoredObject | None:
        """Remove the object, or a link or folder with its name, and return its former state; None if it was missing.

        Raise `OSError` if it cannot be removed.
        """
        path = self.path(digest)
        try:
            status = os.lstat(path)
            remove_tree(path)
        except FileNotFoundError:
            return None
        return StoredObject.of(digest, status)

    def __iter__(self) -> Iterator[StoredObject]:
        """Iterate over all objects in any order. Objects removed during the iteration may be missing."""
        for first in FIRST:
            yield from self.beginning(first)

    def beginning(self, first: str) -> Iterator[StoredObject]:
        """Yield the objects whose digest begins with these two hex digits, in any order.

        Raise `HomeUnsafe` if a folder is a link.
        """
        check_folder(self.folder / first)
        with suppress(OSError), os.scandir(self.folder / first) as entries:
            for entry in entries:
                with suppress(OSError, ValueError):
                    yield StoredObject.of(Digest(first + entry.name), entry.stat(follow_symlinks=False))
