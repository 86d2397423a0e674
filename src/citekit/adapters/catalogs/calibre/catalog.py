"""Makes a Calibre library available as a book catalog."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

from attrs import frozen

from citekit.adapters.catalogs.book_search import BookTable
from citekit.adapters.catalogs.calibre import cards
from citekit.adapters.catalogs.calibre.database import CalibreDatabase, DatabaseState
from citekit.adapters.catalogs.calibre.records import BookFolders, CalibreRecords
from citekit.adapters.system.file_state import FINE
from citekit.domain.errors import BookMissing
from citekit.domain.library.books import BookFilter, BookRecord, LibraryStats

RACY = FINE
"""Seconds within which a file may change twice without a new timestamp."""


@frozen
class _Known:
    """Data that was read at `read_at` from the database in the state `state`, which was first seen at `since`."""

    state: DatabaseState
    since: float
    read_at: float
    catalogue: BookTable
    stats: LibraryStats

    def is_settled(self) -> bool:
        """Return whether any later change to the database would change its recorded file state (see `RACY`)."""
        return all(file is None or file.is_settled(self.read_at, RACY, self.since) for file in self.state)


class CalibreLibrary:
    """A `Library` for the folder that contains Calibre's `metadata.db`.

    Searchable fields and statistics are cached in memory until the database changes. The database is opened only while
    it is read, so that Calibre can move or replace it. Publication dates are in `zone` (None: the local time zone), as
    Calibre displays them.
    """

    def __init__(self, folder: Path, *, patience: float = 5.0, zone: tzinfo | None = None) -> None:
        """Create a catalog of the library in `folder`.

        `patience` is how many seconds to wait while another program writes to the database.
        """
        self._folder = folder.absolute()
        self._database = CalibreDatabase(self._folder, patience)
        self._zone = zone
        self._known: _Known | None = None
        self._learning = threading.Lock()

    @property
    def place(self) -> str:
        """See `Library.place`."""
        return str(self._folder)

    def find(self, wanted: BookFilter, limit: int, offset: int = 0) -> Sequence[BookRecord]:
        """See `Library.find`. A book that is deleted during the query is omitted."""
        return self._records(self._current().catalogue.find(wanted, limit, offset))

    def get(self, book_id: int) -> BookRecord:
        """See `Library.get`."""
        found = self._records([book_id]) if abs(book_id) < 2**63 else []
        if not found:
            raise BookMissing(book_id)
        return found[0]

    def stats(self) -> LibraryStats:
        """See `Library.stats`."""
        return self._current().stats

    def _records(self, ids: Sequence[int]) -> Sequence[BookRecord]:
        with self._database.reading() as connection:
            return CalibreRecords(connection, BookFolders(self._folder), ids, self._zone).read()

    def _current(self) -> _Known:
        with self._learning:
            known = self._known
            if known is None or known.state != self._database.state() or not known.is_settled():
                known = self._known = self._learn(known)
            return known

    def _learn(self, before: _Known | None) -> _Known:
        with self._database.reading() as connection:
            state, now = self._database.state(), time.time()
            since = before.since if before is not None and before.state == state else now
            catalogue = BookTable(cards.cards(connection))
            return _Known(state, since, now, catalogue, cards.stats(connection))
