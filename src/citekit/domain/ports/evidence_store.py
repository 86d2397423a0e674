"""Defines the port for the store of evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from attrs import frozen

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.domain.progress import Progress, silent

Make = Callable[[Path], Extraction]
"""Writes the evidence to the given path, which does not exist yet, and returns what it extracted."""


@frozen(kw_only=True)
class StoreStats:
    """The number of stored objects, their total size in bytes, and the size limit in bytes.

    `linked` is the size in bytes of objects that are also linked to files outside the store. Removing these objects
    frees no space while the linked files exist.
    """

    objects: int
    size: int
    limit: int
    linked: int = 0


@frozen(kw_only=True)
class StoreCheck:
    """The result of `EvidenceStore.verify`.

    `checked` is the number of objects checked. `healed` lists the objects that were damaged and have been removed.
    `leftovers` is the number of pieces of unfinished evidence of ended processes that were deleted.
    """

    checked: int
    healed: Sequence[str]
    leftovers: int


class EvidenceStore(Protocol):
    """A store of evidence by key, with a limit for its total size.

    Each stored object is a file whose bytes match its digest. If the process is killed at any point, no partial object
    remains. The limit applies only to the stored objects; the store never removes links to objects or copies elsewhere.
    Objects requested in the last few seconds are never removed, so that the caller can use them.
    """

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return the evidence for `key`, or None if it is not stored or was modified.

        A file counts as modified if its size or times differ from the recorded ones.
        """

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return the result of `find` if checking the file's status is enough to know it; otherwise None."""

    def read(self, key: EvidenceKey, start: int, length: int) -> bytes | None:
        """Return at most `length` bytes of the evidence for `key` from the offset `start`, or None if `find` returns
        None.

        Links are not followed.
        """

    def link(self, digest: Digest, seconds: int) -> str | None:
        """Return a URL at which anybody can read the object for `seconds`, or None if that is not possible."""

    def obtain(
        self, key: EvidenceKey, make: Make, progress: Progress = silent, *, readers: int = 0o444
    ) -> StoredEvidence:
        """Return the evidence for `key`. If it is missing or damaged, call `make` to extract it.

        Afterward, only the owner and the users in `readers` (the read permission bits of the source) may read the
        object. Sources that result in the same bytes share one object, which only users with read access to all of them
        may read.

        If several callers, in any process, request the same key, one of them extracts the evidence and the others wait.
        `progress` is called repeatedly during the wait; if it raises an exception (`Cancelled`), the wait ends. If
        `make` raises an exception, it propagates, and nothing is stored. Raise `HomeUnwritable` if the store cannot be
        written.
        """

    def is_intact(self, digest: Digest) -> bool | None:
        """Read the object with the given digest and return whether its bytes match; None if the object does not exist.

        This method does not remove or repair anything.
        """

    def stats(self) -> StoreStats:
        """Return the number of objects, their total size, the size limit, and the size of the linked objects."""

    def verify(self) -> StoreCheck:
        """Read every object, remove those whose bytes do not match their digests, delete the temporary files of ended
        processes, and return the result.
        """

    def prune(self, limit: int | None = None) -> int:
        """Remove the least recently used objects until at most `limit` bytes remain. None means the configured limit.

        Return the number of bytes freed on the disk. Removing objects that are linked to files elsewhere frees none.
        Raise `HomeUnwritable` if the store cannot be written.
        """

    def clear(self) -> int:
        """Remove all objects, including recently used ones, and return the number of bytes freed on the disk.

        Raise `HomeUnwritable` if the store cannot be written.
        """
