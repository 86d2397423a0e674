"""Stores a chunked and embedded book in the vector index, the map store, and the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter

from attrs import evolve, frozen

from citekit.application.library.chunk_book import ChunkedBook
from citekit.application.library.index_entries import BookWords, chunk_entries, passage_entries
from citekit.domain.errors import CiteKitError
from citekit.domain.library.ledger import Deed, LedgerEntry, index_keys
from citekit.domain.library.vectors import EmbedderIdentity, Vector, Where
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex


@frozen
class StoreBook:
    """Stores books in the vector index and in the map store.

    Search results do not include a book until the ledger records that it is complete.
    """

    index: VectorIndex
    ledger: Ledger
    maps: MapStore
    clock: Clock

    def __call__(
        self,
        entry: LedgerEntry,
        book: BookWords,
        cut: ChunkedBook,
        vectors: Sequence[Vector],
        model: EmbedderIdentity,
        replaced: LedgerEntry | None = None,
    ) -> LedgerEntry:
        """Store the book and return its final ledger entry. `entry` is the ledger entry that marks the start.

        `replaced` is the entry of the same book if it is in the index; its `copy` differs from that of `entry`. It is
        searched until the new one is complete, and is then deleted, like entries for an older version of the file.
        Raise the errors of the ports. On failure, what was stored is removed from the index, and the ledger records the
        failure; a book that was unfinished before stays unfinished.
        """
        began = perf_counter()
        self.index.create(entry.collection, model)
        with self._recorded(entry, replaced):
            self.index.remove(entry.collection, _leftovers(entry, replaced))
            self.index.put(entry.collection, chunk_entries(book, cut.extracted_text, cut.placed, model))
            self.index.put(entry.collection, passage_entries(book, cut.placed, vectors))
            self.index.flush(entry.collection)
            self.maps.put(evolve(cut.resource_map, title=entry.title))
            seconds = {**entry.seconds, "storing": round(perf_counter() - began, 4)}
            done = evolve(entry, deed=Deed.FINISHED, at=self.clock.now(), seconds=seconds)
            self.ledger.append(done)
        self._drop_replaced(done, replaced)
        return done

    @contextmanager
    def _recorded(self, entry: LedgerEntry, replaced: LedgerEntry | None) -> Iterator[None]:
        """Record in the ledger that storing has started. If the `with` block raises, remove what was stored from the
        index.

        The entry of a book that is still in the index, or was unfinished, is then restored. Other books are marked as
        failed.
        """
        before = self.ledger.last(entry.collection, entry.digest)
        was_there = before is not None and before.deed in (Deed.FINISHED, Deed.STARTED)
        self.ledger.append(entry if replaced is None else evolve(replaced, at=self.clock.now(), replacing=True))
        try:
            yield
        except BaseException as error:  # also KeyboardInterrupt
            with suppress(CiteKitError):
                self.index.remove(entry.collection, _leftovers(entry, replaced))
            failed = evolve(entry, deed=Deed.STARTED if was_there else Deed.FAILED)
            kept = failed if replaced is None else evolve(replaced, replacing=False)
            self.ledger.append(evolve(kept, at=self.clock.now(), error=str(error) or type(error).__name__))
            raise

    def _drop_replaced(self, entry: LedgerEntry, replaced: LedgerEntry | None) -> None:
        """Delete the replaced copy of the book, and older versions of the file, whose locations are no longer valid."""
        outdated: list[str] = [] if replaced is None else [replaced.index_key]
        for other in self.ledger.of_resource(entry.collection, entry.resource_id):
            if other.digest != entry.digest:
                outdated += index_keys(other.digest)
                removed = evolve(other, deed=Deed.REMOVED, at=self.clock.now(), seconds={}, error=None, replacing=False)
                self.ledger.append(removed)
        if outdated:
            self.index.remove(entry.collection, Where({"digest": tuple(outdated)}))
            self.index.flush(entry.collection)


def _leftovers(entry: LedgerEntry, replaced: LedgerEntry | None) -> Where:
    """Return a filter for the entries that an interrupted ingest may have left, except those of the replaced book."""
    return Where({"digest": index_keys(entry.digest) if replaced is None else (entry.index_key,)})
