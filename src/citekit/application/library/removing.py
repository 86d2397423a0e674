"""Take a book out of a collection again."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, frozen

from citekit.domain.errors import RequestRefused, ResourceMissing
from citekit.domain.library.ledger import Deed, LedgerEntry
from citekit.domain.library.vectors import Where
from citekit.domain.mapper_identity import MapperIdentity
from citekit.domain.ports.clock import Clock
from citekit.domain.ports.ledger import Ledger
from citekit.domain.ports.locks import Locks
from citekit.domain.ports.map_store import MapStore
from citekit.domain.ports.vector_index import VectorIndex


@frozen(kw_only=True)
class BookName:
    """Which book: one of these is given."""

    book_id: int | None = None
    path: Path | None = None
    resource_id: str | None = None

    def __str__(self) -> str:
        return str(self.resource_id or self.path or f"book {self.book_id}")


@frozen
class Removed:
    """The book that was taken out, and how many entries of the index it had."""

    entry: LedgerEntry
    entries: int


@frozen
class RemoveBook:
    """Forgets what the index and the map have of a book's chunks; the file and the map's other nodes stay."""

    index: VectorIndex
    ledger: Ledger
    maps: MapStore
    locks: Locks
    clock: Clock

    def __call__(self, name: BookName, collection: str) -> Removed:
        """Take it out. Raises `RequestRefused` where it is not in the collection, and what the ports raise."""
        entry = self._named(name, collection)
        with self.locks.holding(f"book:{collection}:{entry.digest}"):
            where = Where({"digest": (entry.digest.hex,)})
            count = self.index.count(collection, where)
            self.index.remove(collection, where)
            self.index.settle(collection)
            self.ledger.append(evolve(entry, deed=Deed.REMOVED, at=self.clock.now(), seconds={}))
        if not any(each.digest == entry.digest for each in self.ledger.books()):
            self._without_chunks(entry.resource_id)
        return Removed(entry, count)

    def _named(self, name: BookName, collection: str) -> LedgerEntry:
        wanted = [each for each in self._books(collection) if _is(each, name)]
        if not wanted:
            raise RequestRefused(f"'{name}' is not in collection '{collection}'.")
        return wanted[-1]

    def _books(self, collection: str) -> list[LedgerEntry]:
        """Also what an ingest that was cut off may have left."""
        return [*self.ledger.unfinished(collection), *self.ledger.books(collection)]

    def _without_chunks(self, resource_id: str) -> None:
        """Put the map in use that the library's was made from."""
        try:
            there = self.maps.get(resource_id)
        except ResourceMissing:
            return
        before = MapperIdentity.from_metadata(there.metadata.get("structure_by"))
        edition = self.maps.edition(resource_id, before) if before is not None else None
        if edition is not None:
            self.maps.put(edition)


def _is(entry: LedgerEntry, name: BookName) -> bool:
    if name.resource_id is not None:
        return entry.resource_id == name.resource_id
    if name.path is not None:
        return Path(entry.path) == name.path
    return entry.book_id == name.book_id
