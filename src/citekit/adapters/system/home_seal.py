"""The seal of a home, which distinguishes data written here from data that came with an archive or a clone.

Each folder of derived data has a small file of random bytes. The key is derived from these bytes, and from the inode
and change time of the file, which programs cannot set (POSIX `st_ctime`). Therefore a home that was copied, unpacked,
or cloned has another key. Data without a valid authentication code (keyed BLAKE2b, RFC 7693) is rebuilt.

Imports almost nothing, because listings of maps must start quickly.
"""

from __future__ import annotations

import os
import threading
from _blake2 import blake2b  # hashlib would load OpenSSL, and hmac its imports, which delays listings
from _operator import _compare_digest
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from citekit.adapters.system.home_files import make_folder, open_file, write_all

SIZE = 32
"""Number of random bytes in a seal file."""

CODE_SIZE = 16
"""Length of an authentication code, in bytes."""

ROOT = 0
_USER = os.geteuid() if hasattr(os, "geteuid") else None


class _Key(NamedTuple):
    """A key, and the state of the seal file from which it was derived."""

    inode: int
    ctime_ns: int
    key: bytes


class HomeSeal:
    """The seal in `folder`, created on first use. Safe for threads and processes.

    Each user has a seal. That of root, who can write everything anyway, is valid for all users, unless users other than
    root and this one can write to the folder. If no seal can be created, as on a read-only disk, codes are valid only
    in this process. `code` and `holds` raise `HomeUnsafe` if the seal is a link or not a regular file.
    """

    def __init__(self, folder: str | os.PathLike[str], *, private: bool = False) -> None:
        """Root's seal is readable by all users unless it is `private`."""
        self._mode = 0o644 if _USER == ROOT and not private else 0o600
        self._folder = os.path.abspath(folder)  # noqa: PTH100 - pathlib is slow to import
        users = dict.fromkeys((_USER, ROOT) if _USER is not None else (None,))
        self._paths = {user: os.path.join(self._folder, _name(user)) for user in users}  # noqa: PTH118
        self._known: dict[int | None, _Key | None] = {}
        self._own: bytes | None = None
        self._lock = threading.Lock()

    def code(self, *parts: bytes) -> bytes:
        """Return the authentication code of `parts`, in this order."""
        return _code(self._key(_USER) or self._made_key(), parts)

    def holds(self, code: object, *parts: bytes) -> bool:
        """Return whether `code` is valid for `parts` in this home."""
        return self.checker()(code, *parts)

    def checker(self) -> Callable[..., bool]:
        """Return `holds` with the present keys, for many codes at once. It does not look at the seal files again."""
        keys = [key for key in (self._own, *map(self._key, self._paths)) if key is not None]

        def holds(code: object, *parts: bytes) -> bool:
            if not isinstance(code, bytes) or len(code) != CODE_SIZE:
                return False
            return any(_compare_digest(code, _code(key, parts)) for key in keys)

        return holds

    def state(self) -> tuple[object, ...]:
        """Return the state of the seal files, which determines the results of `holds`; empty if there are none."""
        return tuple(filter(None, map(_state, self._paths.values())))

    def _key(self, user: int | None) -> bytes | None:
        """Return the key from the current seal file of that user, or None if there is no valid file."""
        try:
            status = os.lstat(self._paths[user])
        except OSError:
            return None
        known = self._known.get(user)
        if known is None or (known.inode, known.ctime_ns) != (status.st_ino, status.st_ctime_ns):
            self._known[user] = known = self._read(user)
        return None if known is None else known.key

    def _read(self, user: int | None) -> _Key | None:
        with suppress(OSError):
            if user == ROOT != _USER and _is_shared(self._folder):
                return None
            descriptor = open_file(self._paths[user])
            try:
                return _key_of(descriptor, user)
            finally:
                os.close(descriptor)
        return None

    def _made_key(self) -> bytes:
        with self._lock:
            with suppress(OSError):
                self._make()
            key = self._key(_USER) or self._own
            if key is None:
                self._own = key = os.urandom(SIZE)
            return key

    def _make(self) -> None:
        """Write the random bytes unless another process has written them. Raise `OSError` if they cannot be written."""
        make_folder(self._folder, 0o700)
        descriptor = open_file(self._paths[_USER], os.O_RDWR | os.O_CREAT, self._mode)
        try:
            _lock(descriptor)  # closing the file releases the lock
            if os.fstat(descriptor).st_size != SIZE:
                os.ftruncate(descriptor, 0)
                write_all(descriptor, os.urandom(SIZE))
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def unhex(code: object) -> bytes | None:
    """Return the bytes of an authentication code stored as hexadecimal text, or None if `code` is not hexadecimal text."""
    try:
        return bytes.fromhex(code) if isinstance(code, str) else None
    except ValueError:
        return None


def _is_shared(folder: str) -> bool:
    """Return whether users other than root and this one can write to the folder."""
    status = os.stat(folder)  # noqa: PTH116 - pathlib is slow to import
    return status.st_uid not in (ROOT, _USER) or bool(status.st_mode & 0o022)


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


def _name(user: int | None) -> str:
    return "seal" if user is None else f"seal-{user}"


def _key_of(descriptor: int, user: int | None) -> _Key | None:
    """Return the key of an open file, or None if it is incomplete, changed during reading, or has another owner."""
    before = os.fstat(descriptor)
    secret = os.read(descriptor, SIZE + 1)
    after = os.fstat(descriptor)
    if len(secret) != SIZE or before.st_ctime_ns != after.st_ctime_ns:
        return None
    if user is not None and after.st_uid != user:
        return None
    facts = f"{after.st_ino} {after.st_ctime_ns}".encode()
    return _Key(after.st_ino, after.st_ctime_ns, _code(secret, (b"seal", facts)))


def _code(key: bytes, parts: tuple[bytes, ...]) -> bytes:
    """Return the code of `parts`, whose lengths are included, so that different lists do not give the same bytes."""
    data = b"".join([len(part).to_bytes(8, "big") + part for part in parts])
    return bytes(blake2b(data, digest_size=CODE_SIZE, key=key).digest())


def _lock(descriptor: int) -> None:
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
