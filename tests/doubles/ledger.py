"""An in-memory ledger."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from citekit.adapters.storage import ledger_line
from citekit.domain.digest import Digest
from citekit.domain.library.ledger import Deed, LedgerEntry


class MemoryLedger:
    """A `Ledger` in a list."""

    def __init__(self) -> None:
        self._lines: list[LedgerEntry] = []
        self._last: dict[tuple[str, Digest], LedgerEntry] = {}
        self._lock = threading.Lock()

    def append(self, entry: LedgerEntry) -> None:
        """Append one entry."""
        entry = ledger_line.read(ledger_line.written(entry))
        key = (entry.collection, entry.digest)
        with self._lock:
            self._lines.append(entry)
            self._last.pop(key, None)
            self._last[key] = entry

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """Return the last entry about that book in that collection, or None."""
        return self._last.get((collection, digest))

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `FINISHED`, oldest first."""
        return self._standing(Deed.FINISHED, collection)

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """Return the last entry of each book whose last entry is `STARTED`, oldest first."""
        return self._standing(Deed.STARTED, collection)

    def of_resource(self, collection: str, resource_id: str) -> Sequence[LedgerEntry]:
        """Return the last entry of each book of that resource if it is `FINISHED` or `STARTED`."""
        entries = (*self.books(collection), *self.unfinished(collection))
        return [entry for entry in entries if entry.resource_id == resource_id]

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """Return the latest entries, newest first."""
        with self._lock:
            return self._lines[: -max(limit, 0) - 1 : -1]

    def _standing(self, deed: Deed, collection: str | None) -> Sequence[LedgerEntry]:
        with self._lock:
            last = list(self._last.values())
        return [entry for entry in last if entry.deed is deed and collection in (None, entry.collection)]
