"""A cache of the digests and formats of unchanged files."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

from citekit.adapters.libraries.sqlite.key_value_cache import Index
from citekit.adapters.sources.known_digests import digest_in, row_of
from citekit.adapters.system.file_state import COARSE, FileState
from citekit.domain.detection import DETECTION
from citekit.domain.digest import Digest
from citekit.domain.formats import Format, format_named

RACY = COARSE
"""Seconds within which a file may change twice without a new timestamp (FAT stores two-second times)."""

REMEMBERED = 4096
"""Maximum number of entries in each table in memory: digests, formats, and times of states that are not settled."""


class States:
    """Maps file states to digests, in memory and in the optional index.

    A state that could hide a later change is not cached. An entry may also have the file's name and its format, which
    depends on both the bytes and the name.
    """

    def __init__(self, index: Index | None) -> None:
        self._index = index
        self._formats: OrderedDict[FileState, tuple[str, Format]] = OrderedDict()
        self._recent: OrderedDict[FileState, Digest] = OrderedDict()
        self._unsettled: OrderedDict[FileState, float] = OrderedDict()
        self._lock = threading.Lock()

    def digest(self, state: FileState) -> Digest | None:
        """Return the digest of a file in that state, or None if it is not cached."""
        found = self._recent.get(state)
        if found is None:
            found = self._digest_in(state)
            if found is not None:
                self._keep(state, found)
        return found

    def recent(self, state: FileState) -> Digest | None:
        """Return the digest of a file in that state if it is in memory, else None."""
        return self._recent.get(state)

    def identified(self, state: FileState, name: str) -> tuple[Digest, Format] | None:
        """Return the digest and the format of a file with that name and state, or None if they are not cached."""
        digest, named = self._recent.get(state), self._formats.get(state)
        if digest is None or named is None:
            row = self._remembered(state)
            found, named = digest_in(row), _format_in(row)
            if found is None or named is None:
                return None
            digest = Digest(found)
            self._keep(state, digest, named)
        return (digest, named[1]) if named[0] == name else None

    def remember_format(self, state: FileState, name: str, format: Format) -> None:
        """Cache the format of a file. Do nothing unless its digest is in memory."""
        digest = self._recent.get(state)
        if digest is not None and self._formats.get(state) != (name, format):
            self._keep(state, digest, (name, format))
            self._note(state, {"sha256": digest.hex, "name": name, "format": format.name, "detection": DETECTION})

    def remember(self, state: FileState, digest: Digest) -> None:
        """Cache a digest, unless the file changed so recently that another change might not be visible."""
        now = time.time()
        if not state.is_settled(now, RACY, self._since(state, now)):
            return
        self._keep(state, digest)
        self._note(state, {"sha256": digest.hex})

    def _since(self, state: FileState, now: float) -> float:
        """Return when a file was first seen in that state, in seconds since the epoch.

        It is `now` unless the timestamps of the file are in the future and therefore unreliable.
        """
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

    def _remembered(self, state: FileState) -> dict[str, object] | None:
        return self._index.get(row_of(state)) if self._index is not None else None

    def _note(self, state: FileState, plain: dict[str, object]) -> None:
        if self._index is not None:
            self._index.put(row_of(state), plain)

    def _keep(self, state: FileState, digest: Digest, named: tuple[str, Format] | None = None) -> None:
        with self._lock:
            _bounded(self._recent, state, digest)
            if named is not None:
                _bounded(self._formats, state, named)


def _bounded(table: OrderedDict[FileState, Any], state: FileState, value: object) -> None:
    table[state] = value
    table.move_to_end(state)
    while len(table) > REMEMBERED:
        table.popitem(last=False)


def _format_in(plain: object) -> tuple[str, Format] | None:
    match plain:
        case {"name": str(name), "format": str(text), "detection": seen} if seen == DETECTION:
            format = format_named(text)
            return None if format is None else (name, format)
    return None


def _since_in(plain: object) -> float | None:
    match plain:
        case {"since": float(since)}:
            return since
    return None
