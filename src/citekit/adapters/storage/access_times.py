"""When objects were last asked for: one small file, which all processes write to without taking turns."""

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
"""Numbers in the file, 8 bytes each, most of them never written. Objects that share one count as used together."""

GRAIN = 1.0
"""Seconds to which the time of the last use is kept."""

REMEMBERED = 4096
"""Objects whose last use is known without asking the file."""

_NUMBER = struct.Struct("<d")


class Uses:
    """Times in seconds since the epoch, by `clock`, at the slot that the object's digest says.

    Writing one is a look at the file and one call of the system: nobody waits, and what is written is seen at once by all.
    Where the file cannot be written, uses are only known to this process. Every method that opens the file raises
    `HomeUnsafe` if it is a link or no file.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        """The folder of `path` must be there when the first use is noted, else it is only known to this process."""
        self._path = str(path)
        self._clock = clock
        self._noted: dict[str, float] = {}
        self._file: tuple[int, tuple[int, int]] | None = None
        self._lock = threading.Lock()

    def now(self) -> float:
        """The time, in seconds since the epoch."""
        return self._clock.now().timestamp()

    def note(self, digest: Digest) -> None:
        """Note that the object is asked for now."""
        now = self.now()
        if abs(now - self._noted.get(digest.hex, 0.0)) < GRAIN:
            return
        if len(self._noted) >= REMEMBERED:
            self._noted.clear()
        self._noted[digest.hex] = now
        with self._lock, suppress(OSError):
            _write(self._descriptor(), _place(digest), _NUMBER.pack(now))

    def last(self, digest: Digest) -> float:
        """When the object was last asked for, at the earliest 0."""
        with self._lock, suppress(OSError, struct.error):
            (used,) = _NUMBER.unpack(_read(self._descriptor(), _place(digest)))
            return max(float(used), self._noted.get(digest.hex, 0.0)) if used >= 0.0 else 0.0
        return self._noted.get(digest.hex, 0.0)

    def _descriptor(self) -> int:
        """The file, opened again where somebody deleted or replaced it. Raises `OSError`."""
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
