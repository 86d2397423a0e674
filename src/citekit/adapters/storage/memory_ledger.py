"""A ledger that lasts as long as the program."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from citekit.adapters.storage import ledger_line
from citekit.domain.digest import Digest
from citekit.domain.library.ledger import Deed, LedgerEntry


class MemoryLedger:
    """`Ledger` in a list."""

    def __init__(self) -> None:
        self._lines: list[LedgerEntry] = []
        self._last: dict[tuple[str, Digest], LedgerEntry] = {}
        self._lock = threading.Lock()

    def append(self, entry: LedgerEntry) -> None:
        """Write one line."""
        entry = ledger_line.read(ledger_line.written(entry))
        key = (entry.collection, entry.digest)
        with self._lock:
            self._lines.append(entry)
            self._last.pop(key, None)
            self._last[key] = entry

    def last(self, collection: str, digest: Digest) -> LedgerEntry | None:
        """The last line about that book in that collection."""
        return self._last.get((collection, digest))

    def books(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """The last line about each book whose last line is `FINISHED`, oldest first."""
        return self._standing(Deed.FINISHED, collection)

    def unfinished(self, collection: str | None = None) -> Sequence[LedgerEntry]:
        """The last line about each book whose last line is `STARTED`, oldest first."""
        return self._standing(Deed.STARTED, collection)

    def history(self, limit: int = 100) -> Sequence[LedgerEntry]:
        """The last lines, newest first."""
        with self._lock:
            return self._lines[: -max(limit, 0) - 1 : -1]

    def _standing(self, deed: Deed, collection: str | None) -> Sequence[LedgerEntry]:
        with self._lock:
            last = list(self._last.values())
        return [entry for entry in last if entry.deed is deed and collection in (None, entry.collection)]
