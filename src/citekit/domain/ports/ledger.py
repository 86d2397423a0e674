"""Records what was done to the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.library.ledger import LedgerEntry


class Ledger(Protocol):
    """Append-only, durable when `append` returns, safe for several processes. Raises `HomeUnwritable`, `LedgerCorrupt`."""

    def append(self, entry: LedgerEntry) -> None:
        """Write one line."""

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """The last line about that book in that collection."""

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """The last line about each book whose last line is `FINISHED`, oldest first; of all collections for None."""

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """The last line about each book whose last line is `STARTED`: an ingest that was cut off."""

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """The last lines, newest first."""
