"""The last access time of each object, in one small file that all processes write without locking."""

from __future__ import annotations

import os
import struct
import threading
from contextlib import suppress
from pathlib import Path

from citekit.adapters.system.home_files import open_file
from citekit.domain.digest import Digest
from citekit.domain.ports.clock import Clock

SLOTS = 2**19
"""Number of 8-byte slots in the sparse file. Objects whose digests map to the same slot share one access time."""

GRAIN = 1.0
"""Resolution of the access times, in seconds."""

REMEMBERED = 4096
"""Maximum number of objects whose last access time is cached in memory."""

_NUMBER = struct.Struct("<d")


class Uses:
    """Access times in seconds since the epoch, stored in a slot derived from the object's digest.

    Recording an access takes one `stat` and one write, and other processes see it at once. If the file cannot be
    written, this process remembers its own accesses. Methods that open the file raise `HomeUnsafe` if the path is a
    link or not a regular file.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        """Use the file at `path`. While its folder does not exist, accesses stay in memory."""
        self._path = str(path)
        self._clock = clock
        self._noted: dict[str, float] = {}
        self._file: tuple[int, tuple[int, int]] | None = None
        self._lock = threading.Lock()

    def now(self) -> float:
        """Return the current time in seconds since the epoch."""
        return self._clock.now().timestamp()

    def note(self, digest: Digest) -> None:
        """Record that the object is accessed now."""
        now = self.now()
        if abs(now - self._noted.get(digest.hex, 0.0)) < GRAIN:
            return
        if len(self._noted) >= REMEMBERED:
            self._noted.clear()
        self._noted[digest.hex] = now
        with self._lock, suppress(OSError):
            _write(self._descriptor(), _place(digest), _NUMBER.pack(now))

    def last(self, digest: Digest) -> float:
        """Return the time of the object's last access, or 0 if it is unknown."""
        with self._lock, suppress(OSError, struct.error):
            (used,) = _NUMBER.unpack(_read(self._descriptor(), _place(digest)))
            return max(float(used), self._noted.get(digest.hex, 0.0)) if used >= 0.0 else 0.0
        return self._noted.get(digest.hex, 0.0)

    def _descriptor(self) -> int:
        """Return a descriptor of the file, which is reopened if it was replaced. Raise `OSError` if it cannot be
        opened.
        """
        if self._file is not None:
            with suppress(OSError):
                status = os.lstat(self._path)
                if (status.st_dev, status.st_ino) == self._file[1]:
                    return self._file[0]
            os.close(self._file[0])
            self._file = None
        descriptor = open_file(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        status = os.fstat(descriptor)
        self._file = descriptor, (status.st_dev, status.st_ino)
        return descriptor

    def __del__(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file[0])


def _place(digest: Digest) -> int:
    return int(digest.hex[-8:], 16) % SLOTS * _NUMBER.size


if hasattr(os, "pwrite"):

    def _write(descriptor: int, place: int, data: bytes) -> None:
        os.pwrite(descriptor, data, place)

    def _read(descriptor: int, place: int) -> bytes:
        return os.pread(descriptor, _NUMBER.size, place)

else:

    def _write(descriptor: int, place: int, data: bytes) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        os.write(descriptor, data)

    def _read(descriptor: int, place: int) -> bytes:
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, _NUMBER.size)
