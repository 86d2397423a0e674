"""Keeps evidence, found by its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from attrs import frozen

from citekit.domain.digest import Digest
from citekit.domain.evidence import EvidenceKey, Extraction, StoredEvidence

Make = Callable[[Path], Extraction]
"""Writes the evidence to the path it is given (which does not exist yet) and says what it made."""


@frozen(kw_only=True)
class StoreStats:
    """How full the store is: `objects` and `size` in bytes, of at most `limit` bytes."""

    objects: int
    size: int
    limit: int


@frozen(kw_only=True)
class StoreCheck:
    """What `verify` found: `checked` objects, of which `healed` were damaged (now gone, made again when next asked for).

    `leftovers` are temporary files of killed processes that were cleaned away.
    """

    checked: int
    healed: Sequence[str]
    leftovers: int


class EvidenceStore(Protocol):
    """An object's digest equals its bytes; a kill at any point leaves no torn object; the size stays bounded."""

    def find(self, key: EvidenceKey) -> StoredEvidence | None:
        """The evidence, undamaged as far as its size and time of change tell, or None."""

    def obtain(self, key: EvidenceKey, make: Make) -> StoredEvidence:
        """The evidence, made by `make` where it is missing or damaged.

        Of several callers at once, in any process, one makes and the others wait. Where `make` raises, its error goes
        through and nothing is stored. Raises `HomeUnwritable`.
        """

    def find_by_digest(self, digest: Digest) -> StoredEvidence | None:
        """Evidence whose bytes have that digest, or None."""

    def stats(self) -> StoreStats:
        """How full the store is."""

    def verify(self) -> StoreCheck:
        """Read every object, and drop those whose bytes are not what they were."""

    def prune(self, limit: int | None = None) -> int:
        """Drop the least recently used objects until at most `limit` bytes remain; return how many bytes went."""

    def clear(self) -> int:
        """Drop everything; return how many bytes went."""
