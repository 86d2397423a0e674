"""The seal of a home: what CiteKit wrote here counts, what came with an archive or a clone does not.

Each folder of derived data holds a small file of random bytes. The key of the seal is made of these bytes and of the file's
inode and time of change. No program can set that time (POSIX `st_ctime`), so a home that was copied, unpacked or cloned has
another key, and so has one into which somebody put the seal of another home. Rows and files carry a code (keyed BLAKE2b,
RFC 7693) that only this key gives; whatever has none, or a wrong one, is made again.

Imports next to nothing: listings of maps must start fast.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import NamedTuple

from citekit.adapters.system.home_files import make_folder, open_file

SIZE = 32
"""Random bytes in the file of a seal."""

CODE_SIZE = 16
"""Bytes of a code."""

ROOT = 0
_USER = os.geteuid() if hasattr(os, "geteuid") else None


class _Key(NamedTuple):
    """A key, and what the file looked like that it was made of."""

    inode: int
    ctime_ns: int
    key: bytes


class HomeSeal:
    """The seal in `folder`, made when something is sealed for the first time. Safe for threads and processes.

    Each user has their own, and everybody believes that of root, who can write everything anyway. Where none can be made, as
    on a read-only disk, what this process seals counts for this process alone. Every method raises `HomeUnsafe` if the seal
    is a link or no file.
    """

    def __init__(self, folder: str | os.PathLike[str], *, private: bool = False) -> None:
        """Nothing is made there before something is sealed. Root's seal can be read by all unless it is `private`."""
        self._mode = 0o644 if _USER == ROOT and not private else 0o600
        self._folder = os.path.abspath(folder)  # noqa: PTH100 - pathlib is slow to import
        users = dict.fromkeys((_USER, ROOT) if _USER is not None else (None,))
        self._paths = {user: os.path.join(self._folder, _name(user)) for user in users}  # noqa: PTH118
        self._known: dict[int | None, _Key | None] = {}
        self._own: bytes | None = None
        self._lock = threading.Lock()

    def code(self, *parts: bytes) -> bytes:
        """The code of `parts` in this order."""
        return _code(self._key(_USER) or self._made_key(), parts)

    def holds(self, code: object, *parts: bytes) -> bool:
        """Whether `code` is that of `parts` in this home."""
        if not isinstance(code, bytes) or len(code) != CODE_SIZE:
            return False
        keys = (self._own, *map(self._key, self._paths))
        return any(_is_same(code, _code(key, parts)) for key in keys if key is not None)

    def state(self) -> tuple[object, ...]:
        """What the files of the seal look like now; empty without any. While it stays equal, `holds` answers the same."""
        return tuple(filter(None, map(_state, self._paths.values())))

    def _key(self, user: int | None) -> bytes | None:
        """The key of the file of that user that is there now; None without one that counts."""
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
        """Fill the file, unless another process does. Raises `OSError`."""
        make_folder(self._folder, 0o700)
        descriptor = open_file(self._paths[_USER], os.O_RDWR | os.O_CREAT, self._mode)
        try:
            _lock(descriptor)  # released when the file is closed
            if os.fstat(descriptor).st_size != SIZE:
                os.ftruncate(descriptor, 0)
                os.write(descriptor, os.urandom(SIZE))
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns


def _name(user: int | None) -> str:
    return "seal" if user is None else f"seal-{user}"


def _key_of(descriptor: int, user: int | None) -> _Key | None:
    """The key of an open file; None while it is being filled, or if it is not that user's."""
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
    """Each part is preceded by its length: no two lists of parts are the same bytes."""
    from _blake2 import blake2b  # hashlib loads OpenSSL, for which a listing would wait

    data = b"".join([len(part).to_bytes(8, "big") + part for part in parts])
    return bytes(blake2b(data, digest_size=CODE_SIZE, key=key).digest())


def _is_same(left: bytes, right: bytes) -> bool:
    from _operator import _compare_digest  # that of hmac, without its imports

    return _compare_digest(left, right)


def _lock(descriptor: int) -> None:
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
