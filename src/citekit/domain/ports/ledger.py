"""The port for the record of ingested books."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.library.ledger import LedgerEntry


class Ledger(Protocol):
    """An append-only record of ingests, safe for several processes.

    An entry is durable when `append` returns. Every method raises `HomeUnwritable` or `LedgerCorrupt`.
    """

    def append(self, entry: LedgerEntry) -> None:
        """Add an entry."""

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """Return the last entry of that book in that collection."""

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `FINISHED`, oldest first. None means all collections."""

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `STARTED`: its ingest was interrupted."""

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """Return the last entries, newest first."""
