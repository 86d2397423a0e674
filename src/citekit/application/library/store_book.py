"""Stores a book, already split into chunks and embedded, in the vector index and as a map, and records it in the
ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter

from attrs import evolve, frozen

from citekit.application.library.chunk_book import ChunkedBook
from citekit.application.library.index_entries import BookWords, chunk_entries, passage_entries
from citekit.domain.errors import CiteKitError
from citekit.domain.library.ledger import Deed, LedgerEntry
from citekit.domain.library.vectors import EmbedderIdentity, Vector, Where
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex


@frozen
class StoreBook:
    """Stores books in the vector index and in the map store.

    The ledger records when the storing of a book starts and ends. In between, search results do not include the book.
    """

    index: VectorIndex
    ledger: Ledger
    maps: MapStore
    clock: Clock

    def __call__(
        self, entry: LedgerEntry, book: BookWords, cut: ChunkedBook, vectors: Sequence[Vector], model: EmbedderIdentity
    ) -> LedgerEntry:
        """Store the book and return its final ledger entry. `entry` is the ledger entry that marks the start.

        Existing index entries for the same bytes are replaced, and those for an older version of the same file are
        deleted. Raise the errors of the ports used. On failure, the book is removed from the index, and the ledger
        records the failure. If the book had been ingested before, the ledger lists it as unfinished, so that a rebuild
        ingests it again.
        """
        began = perf_counter()
        self.index.create(entry.collection, model)
        with self._recorded(entry):
            self.index.remove(entry.collection, _of(entry))
            self.index.put(entry.collection, chunk_entries(book, cut.extracted_text, cut.placed, model))
            self.index.put(entry.collection, passage_entries(book, cut.placed, vectors))
            self._drop_older(entry)
            self.index.flush(entry.collection)
            self.maps.put(evolve(cut.resource_map, title=entry.title))
        seconds = {**entry.seconds, "storing": round(perf_counter() - began, 4)}
        done = evolve(entry, deed=Deed.FINISHED, at=self.clock.now(), seconds=seconds)
        self.ledger.append(done)
        return done

    @contextmanager
    def _recorded(self, entry: LedgerEntry) -> Iterator[None]:
        """Record in the ledger that storing has started. If the `with` block raises, remove the book from the index
        again.

        After a failure, the ledger entry of a book that had been ingested before is marked as started, else as failed.
        """
        before = self.ledger.last(entry.collection, entry.digest)
        was_there = before is not None and before.deed in (Deed.FINISHED, Deed.STARTED)
        self.ledger.append(entry)
        try:
            yield
        except BaseException as error:  # also KeyboardInterrupt
            with suppress(CiteKitError):
                self.index.remove(entry.collection, _of(entry))
            deed = Deed.STARTED if was_there else Deed.FAILED
            self.ledger.append(evolve(entry, deed=deed, at=self.clock.now(), error=str(error)))
            raise

    def _drop_older(self, entry: LedgerEntry) -> None:
        """Delete the index entries of older versions of the same file, because their locations are no longer valid."""
        for other in (*self.ledger.books(entry.collection), *self.ledger.unfinished(entry.collection)):
            if other.resource_id == entry.resource_id and other.digest != entry.digest:
                self.index.remove(entry.collection, _of(other))
                self.ledger.append(evolve(other, deed=Deed.REMOVED, at=self.clock.now(), seconds={}, error=None))


def _of(entry: LedgerEntry) -> Where:
    return Where({"digest": (entry.digest.hex,)})
