"""Keeps evidence, found by its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from attrs import frozen

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence
from citekit.domain.progress import Progress, silent

Make = Callable[[Path], Extraction]
"""Writes the evidence to the path it is given (which does not exist yet) and says what it made."""


@frozen(kw_only=True)
class StoreStats:
    """How full the store is: `objects` and `size` in bytes, of at most `limit` bytes.

    `linked` of these bytes are in files outside of the store, too: dropping their objects frees nothing while those exist.
    """

    objects: int
    size: int
    limit: int
    linked: int = 0


@frozen(kw_only=True)
class StoreCheck:
    """What `verify` found: `checked` objects, of which `healed` were damaged (now gone, made again when next asked for).

    `leftovers` are temporary files of killed processes that were cleaned away.
    """

    checked: int
    healed: Sequence[str]
    leftovers: int


class EvidenceStore(Protocol):
    """An object's digest equals its bytes; a kill at any point leaves no torn object; the size stays bounded.

    The bound is on the objects: files elsewhere that are links to them, or copies, are their owner's, and stay. What was
    asked for within the last seconds is never dropped to make room, so that its asker can use it.
    """

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """The evidence, undamaged as far as the size and the times of change of its file tell, or None."""

    def cached(self, key: EvidenceKey) -> StoredEvidence | None:
        """What `find` would give, where that takes no more than a look at the state of the object; else None."""

    def obtain(
        self, key: EvidenceKey, make: Make, progress: Progress = silent, *, readers: int = 0o444
    ) -> StoredEvidence:
        """The evidence, made by `make` where it is missing or damaged.

        Only its owner and `readers` (read bits of its source's permissions) may read the object afterwards. The same
        bytes of several sources are one object, which only the readers of all of them may read.

        Of several callers at once, in any process, one makes and the others wait; `progress` is called now and then while
        waiting, and what it raises (`Cancelled`) ends the wait. Where `make` raises, its error goes through and nothing
        is stored. Raises `HomeUnwritable`.
        """

    def is_intact(self, digest: Digest) -> bool | None:
        """Whether the object of that digest has those bytes, which are read; None where there is no such object.

        Nothing is dropped or repaired.
        """

    def stats(self) -> StoreStats:
        """How full the store is."""

    def verify(self) -> StoreCheck:
        """Read every object, and drop those whose bytes are not what they were."""

    def prune(self, limit: int | None = None) -> int:
        """Drop the least recently used objects until at most `limit` bytes remain.

        Returns how many bytes that really freed: those of an object that a file elsewhere is a link to stay on the disk.
        """

    def clear(self) -> int:
        """Drop everything, however lately used; return how many bytes that really freed."""
