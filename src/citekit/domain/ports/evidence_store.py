"""The port for the store of evidence."""

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
    """The number of objects and their size in bytes, with the limit in bytes.

    `linked` bytes are also in files outside the store: removing their objects frees no space while those files exist.
    """

    objects: int
    size: int
    limit: int
    linked: int = 0


@frozen(kw_only=True)
class StoreCheck:
    """The result of `verify`: `checked` objects, of which those in `healed` were damaged and have been removed.

    `leftovers` is the number of temporary files of terminated processes that were deleted.
    """

    checked: int
    healed: Sequence[str]
    leftovers: int


class EvidenceStore(Protocol):
    """Stores evidence by key. The digest of an object equals its bytes, and its total size is bounded.

    If the process is killed at any point, no partial object remains. The size limit applies to the objects: links to
    them and copies elsewhere belong to their owners and stay. Objects that were requested in the last seconds are never
    removed, so that the caller can use them.
    """

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return the evidence if it is stored and its file has the recorded size and times; otherwise None."""

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """Return what `find` would return if checking the file's status is enough; otherwise None."""

    def obtain(
        self, key: EvidenceKey, make: Make, progress: Progress = silent, *, readers: int = 0o444
    ) -> StoredEvidence:
        """Return the evidence. If it is missing or damaged, `make` extracts it.

        Afterward only the owner and `readers` (read bits of the source's permissions) may read the object. If several
        sources have the same bytes, they share one object, which only the readers of all of them may read.

        If several callers request the same key, in any process, one extracts and the others wait. `progress` is called
        repeatedly during the wait, and an exception from it (`Cancelled`) ends the wait. An exception from `make`
        propagates, and nothing is stored. Raises `HomeUnwritable`.
        """

    def is_intact(self, digest: Digest) -> bool | None:
        """Read the object with that digest and return whether its bytes match; None if there is no such object.

        Does not remove or repair anything.
        """

    def stats(self) -> StoreStats:
        """Return the number of objects and their size."""

    def verify(self) -> StoreCheck:
        """Read every object, and remove those whose bytes do not match their digests."""

    def prune(self, limit: int | None = None) -> int:
        """Remove the least recently used objects until at most `limit` bytes remain.

        Returns the number of bytes freed on the disk. Objects that files elsewhere link to free none.
        """

    def clear(self) -> int:
        """Remove all objects, including recently used ones. Returns the number of bytes freed on the disk."""
