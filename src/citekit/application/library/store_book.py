"""Put a book that was cut and embedded into the index and the map, and write down that it is there."""

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
    """From its first line in the ledger to its last, a book is hidden from answers."""

    index: VectorIndex
    ledger: Ledger
    maps: MapStore
    clock: Clock

    def __call__(
        self, entry: LedgerEntry, book: BookWords, cut: ChunkedBook, vectors: Sequence[Vector], model: EmbedderIdentity
    ) -> LedgerEntry:
        """The ledger's line about the stored book, of which `entry` is the one that says that it was begun.

        What the index has of the same bytes is replaced, and what it has of an older state of the same file is dropped.
        Raises what the ports raise; what was stored is taken out again, and the ledger says so: a book that was there before
        stays unfinished, so that a rebuild takes it in again.
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
        """From here on the index is changed: what goes wrong is taken back."""
        before = self.ledger.last(entry.collection, entry.digest)
        was_there = before is not None and before.deed in (Deed.FINISHED, Deed.STARTED)
        self.ledger.append(entry)
        try:
            yield
        except BaseException as error:  # also Ctrl-C, which comes as it likes
            with suppress(CiteKitError):
                self.index.remove(entry.collection, _of(entry))
            deed = Deed.STARTED if was_there else Deed.FAILED
            self.ledger.append(evolve(entry, deed=deed, at=self.clock.now(), error=str(error)))
            raise

    def _drop_older(self, entry: LedgerEntry) -> None:
        """Forget the same file as it was before it changed: its places are no longer what they were."""
        for other in (*self.ledger.books(entry.collection), *self.ledger.unfinished(entry.collection)):
            if other.resource_id == entry.resource_id and other.digest != entry.digest:
                self.index.remove(entry.collection, _of(other))
                self.ledger.append(evolve(other, deed=Deed.REMOVED, at=self.clock.now(), seconds={}, error=None))


def _of(entry: LedgerEntry) -> Where:
    return Where({"digest": (entry.digest.hex,)})
