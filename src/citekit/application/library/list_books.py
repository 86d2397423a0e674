"""Lists the books in the library, including those whose ingest did not finish."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from attrs import frozen

from citekit.domain.errors import CiteKitError
from citekit.domain.library.ledger import LedgerEntry
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.sources import Sources


class BookState(StrEnum):
    """The state of a book: whether it is searched, and whether its file is the one that was ingested."""

    READY = "ready"
    """The book is searched, and its file is unchanged."""

    UNFINISHED = "unfinished"
    """The ingest or removal is running or was interrupted. The book is not searched until an ingest of it finishes."""

    REPLACING = "replacing"
    """The book is being ingested again, or that ingest was interrupted. The earlier ingest is searched."""

    CHANGED = "changed"
    """The file has changed since it was ingested, or cannot be read. Its earlier text is searched."""

    MAPPED_AGAIN = "mapped again"
    """The file was mapped again after it changed. Hits are marked as stale."""

    MISSING = "missing"
    """The file is gone. The text is searched, but no evidence can be extracted."""

    UNMAPPED = "not mapped"
    """The map was removed or is damaged. The text is searched, but its addresses cannot be resolved."""


@frozen
class ListedBook:
    """A book of the library, as it was ingested, and its present state."""

    entry: LedgerEntry
    state: BookState


@frozen
class ListBooks:
    """Lists books with their states. Files are compared by cached digests, and read only if they have changed."""

    ledger: Ledger
    maps: MapStore
    sources: Sources

    def __call__(self, collection: str | None = None) -> Iterator[ListedBook]:
        """Yield the books of the collection (None: of all collections), oldest ingest first.

        Books whose ingest or removal did not finish come last.
        """
        for entry in self.ledger.books(collection):
            yield ListedBook(entry, self._state(entry))
        for entry in self.ledger.unfinished(collection):
            yield ListedBook(entry, BookState.UNFINISHED)

    def _state(self, entry: LedgerEntry) -> BookState:
        try:
            card = self.maps.card(entry.resource_id)
        except CiteKitError:
            return BookState.UNMAPPED
        if card.source_hash != entry.digest.hex:
            return BookState.MAPPED_AGAIN
        path = Path(card.source_path)
        if not self.sources.exists(path):
            return BookState.MISSING
        if self.sources.digest(path) != entry.digest:
            return BookState.CHANGED
        return BookState.REPLACING if entry.replacing else BookState.READY
