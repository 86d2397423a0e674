"""Defines the port for the ledger, the record of ingested books."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citekit.domain.digest import Digest
from citekit.domain.library.ledger import LedgerEntry


class Ledger(Protocol):
    """An append-only record of ingests that several processes can use at the same time.

    An entry is durable when `append` returns. The methods raise `HomeUnwritable` if the ledger cannot be accessed, or
    `LedgerCorrupt` if it is damaged. Methods with a collection raise `RequestRefused` if its name is not valid Unicode.
    """

    def append(self, entry: LedgerEntry) -> None:
        """Add an entry at the end of the ledger."""

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """Return the last entry for the book with that digest in `collection`, or None."""

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `FINISHED`, oldest first.

        None means all collections.
        """

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `STARTED`: its ingest or removal is running or was
        interrupted, or a rebuild has not reached it yet.

        None means all collections.
        """

    def of_resource(self, collection: str, resource_id: str) -> Sequence[LedgerEntry]:
        """Return the last entry of each book of that resource if it is `FINISHED` or `STARTED`, in any order."""

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """Return the last `limit` entries, newest first."""
