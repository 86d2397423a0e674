"""Removes a book from a collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from citekit.domain.errors import MapCorrupt, RequestRefused, ResourceMissing
from citekit.domain.library.ledger import Deed, LedgerEntry, index_keys
from citekit.domain.library.vectors import Where
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.locks import Locks, report_waiting
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex
from citekit.domain.progress import Progress, silent

_WAITING = "waiting for another process that is ingesting or removing the same book"


@frozen(kw_only=True)
class BookName:
    """Identifies a book. Exactly one of the fields is set."""

    book_id: int | None = None
    path: Path | None = None
    resource_id: str | None = None

    def __str__(self) -> str:
        return str(self.resource_id or self.path or f"book {self.book_id}")


@frozen
class Removed:
    """The ledger entry of each removed file, and the number of index entries that were deleted."""

    books: Sequence[LedgerEntry] = field(converter=tuple[LedgerEntry, ...])
    entries: int


@frozen
class RemoveBook:
    """Removes the chunks of a book from the vector index and, unless it is in another collection, from its map."""

    index: VectorIndex
    ledger: Ledger
    maps: MapStore
    locks: Locks
    clock: Clock

    def __call__(self, name: BookName, collection: str, progress: Progress = silent) -> Removed:
        """Remove the book from the collection; by `book_id`, all files with that ID.

        `progress` is called while another process has locked the book. Raise `RequestRefused` if the book is not in the
        collection, and the errors of the ports.
        """
        books = self._named(name, collection)
        return Removed(books, sum(self._remove(book, progress) for book in books))

    def _remove(self, book: LedgerEntry, progress: Progress) -> int:
        where = Where({"digest": index_keys(book.digest)})
        with self.locks.holding(f"book:{book.collection}:{book.digest}", report_waiting(progress, _WAITING)):
            self._write(
                book, Deed.STARTED
            )  # hides the book until it is marked as removed; after a kill, it can be removed or ingested again
            there = self.index.facts(book.collection) is not None
            count = self.index.count(book.collection, where) if there else 0
            if there:
                self.index.remove(book.collection, where)
                self.index.flush(book.collection)
            if book.digest not in {other.digest for other in self.ledger.books()}:
                self._without_chunks(book.resource_id)
            self._write(book, Deed.REMOVED)  # last, so that after a failure the removal can be repeated
        return count

    def _write(self, book: LedgerEntry, deed: Deed) -> None:
        self.ledger.append(evolve(book, deed=deed, at=self.clock.now(), seconds={}, error=None, replacing=False))

    def _named(self, name: BookName, collection: str) -> list[LedgerEntry]:
        wanted = {book.digest: book for book in self._books(collection) if _is(book, name)}
        if not wanted:
            raise RequestRefused(f"'{name}' is not in the collection '{collection}'.")
        return list(wanted.values())

    def _books(self, collection: str) -> list[LedgerEntry]:
        """Return the ledger entries of the books in the collection, including books whose ingest was interrupted."""
        return [*self.ledger.unfinished(collection), *self.ledger.books(collection)]

    def _without_chunks(self, resource_id: str) -> None:
        """Replace the current map of the resource with the map without chunks, if that is still stored."""
        try:
            before = self.maps.get(resource_id).structure_by
        except (ResourceMissing, MapCorrupt):
            return
        edition = self.maps.edition(resource_id, before) if before is not None else None
        if edition is not None:
            self.maps.put(edition)


def _is(entry: LedgerEntry, name: BookName) -> bool:
    if name.resource_id is not None:
        return entry.resource_id == name.resource_id
    if name.path is not None:
        return os.path.realpath(entry.path) == os.path.realpath(name.path)
    return entry.book_id == name.book_id
