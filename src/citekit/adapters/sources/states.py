"""Digests of files that have not changed since they were read."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

from citekit.adapters.drivers.file_state import FileState
from citekit.adapters.drivers.sqlite_index import Index
from citekit.adapters.sources.known_digests import digest_in, row_of
from citekit.domain.digest import Digest

RACY = 2.0
"""Seconds within which a file may change again and keep its time of change (FAT keeps two-second times)."""

REMEMBERED = 4096
"""Digests kept in memory, beside those in the index."""


class States:
    """State to digest, in memory and in the index where there is one. A state that is not settled is not remembered."""

    def __init__(self, index: Index | None) -> None:
        self._index = index
        self._recent: OrderedDict[FileState, Digest] = OrderedDict()
        self._unsettled: OrderedDict[FileState, float] = OrderedDict()
        self._lock = threading.Lock()

    def digest(self, state: FileState) -> Digest | None:
        """The digest of a file in that state, or None where it is not known."""
        found = self._recent.get(state)
        if found is None:
            found = self._digest_in(state)
            if found is not None:
                self._keep(state, found)
        return found

    def recent(self, state: FileState) -> Digest | None:
        """The digest of a file in that state, where it is in memory."""
        return self._recent.get(state)

    def remember(self, state: FileState, digest: Digest) -> None:
        """Note what was read, unless the file changed so lately that it may change again unseen."""
        now = time.time()
        if not state.is_settled(now, RACY, self._since(state, now)):
            return
        self._keep(state, digest)
        self._note(state, {"sha256": digest.hex})

    def _since(self, state: FileState, now: float) -> float:
        """When a file was first seen in that state, where its own times lie in the future and do not tell."""
        if state.changed(now) <= now:
            return now
        known = self._unsettled.get(state) or _since_in(self._remembered(state))
        if known is None:
            self._note(state, {"since": now})
        with self._lock:
            _bounded(self._unsettled, state, known or now)
        return known or now

    def _digest_in(self, state: FileState) -> Digest | None:
        found = digest_in(self._remembered(state))
        return Digest(found) if found is not None else None

    def _remembered(self, state: FileState) -> dict[str, Any] | None:
        return self._index.get(row_of(state)) if self._index is not None else None

    def _note(self, state: FileState, plain: dict[str, Any]) -> None:
        if self._index is not None:
            self._index.put(row_of(state), plain)

    def _keep(self, state: FileState, digest: Digest) -> None:
        with self._lock:
            _bounded(self._recent, state, digest)


def _bounded(table: OrderedDict[FileState, Any], state: FileState, value: object) -> None:
    table[state] = value
    table.move_to_end(state)
    while len(table) > REMEMBERED:
        table.popitem(last=False)


def _since_in(plain: object) -> float | None:
    match plain:
        case {"since": float(since)}:
            return since
    return None
