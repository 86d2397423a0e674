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
"""Writes the evidence to a new file at the path, and returns what it extracted."""


@frozen(kw_only=True)
class StoreStats:
    """The number of stored objects, their total size in bytes, and the size limit in bytes.

    `linked` is the size in bytes of objects that are also linked to files outside the store. Removing them frees no
    space.
    """

    objects: int
    size: int
    limit: int
    linked: int = 0


@frozen(kw_only=True)
class StoreCheck:
    """The result of `EvidenceStore.verify`.

    `checked` is the number of objects checked. `healed` lists the digests of the damaged objects that were removed.
    `leftovers` is the number of unfinished pieces of evidence, left by ended processes, that were deleted.
    """

    checked: int
    healed: Sequence[str]
    leftovers: int


class EvidenceStore(Protocol):
    """A store of evidence by key, with a limit for its total size.

    A killed process leaves no partial object. The limit applies to the stored objects, not to links to them or copies
    elsewhere. Objects requested in the last few seconds are not removed to keep the limit, so that the caller can use
    them. The methods raise `StoreUnavailable` if the evidence is also in a shared store that cannot be accessed.
    """

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return the evidence for `key`, or None if it is not stored or its bytes have changed."""

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return the evidence for `key` if its record is in memory and its file has not changed; otherwise None."""

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

        Of several callers with the same key on one machine, one extracts the evidence and the others wait. `progress`
        is called repeatedly during the wait; if it raises an exception (`Cancelled`), the wait ends. An exception of
        `make` propagates, and nothing is stored. Raise `HomeUnwritable` if the store cannot be written.
        """

    def is_intact(self, digest: Digest) -> bool | None:
        """Return whether the bytes of the object match its digest, or None if the object does not exist."""

    def stats(self) -> StoreStats:
        """Return the statistics of the store."""

    def verify(self) -> StoreCheck:
        """Read all objects, remove those whose bytes do not match their digests, and delete the temporary files of
        ended processes.
        """

    def prune(self, limit: int | None = None) -> int:
        """Remove the least recently used objects until at most `limit` bytes remain. None means the configured limit.

        Return the number of bytes freed on the disk. Raise `HomeUnwritable` if the store cannot be written.
        """

    def clear(self) -> int:
        """Remove all objects, including recently used ones, and return the number of bytes freed on the disk.

        Raise `HomeUnwritable` if the store cannot be written.
        """
