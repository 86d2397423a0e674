"""Digests of files that have not changed since they were read."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

from attrs import frozen

from citekit.adapters.drivers.diskcache import Index
from citekit.domain.digest import Digest

RACY = 2.0
"""Seconds within which a file may change again and keep its time of change (FAT keeps two-second times)."""

REMEMBERED = 4096
"""Digests kept in memory, beside those in the index."""


@frozen
class State:
    """What a file looks like: while it looks so, its bytes are taken to be the same."""

    device: int
    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> State:
        """The state of an open or closed file."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    @property
    def is_settled(self) -> bool:
        """Whether the last change is so long ago that another one would show."""
        return time.time() - self.mtime_ns / 1e9 > RACY


class States:
    """State to digest, in memory and in the index where there is one. A state that is not settled is not remembered."""

    def __init__(self, index: Index | None) -> None:
        self._index = index
        self._recent: OrderedDict[State, Digest] = OrderedDict()
        self._lock = threading.Lock()

    def digest(self, state: State) -> Digest | None:
        """The digest of a file in that state, or None where it is not known."""
        found = self._recent.get(state)
        if found is None and self._index is not None:
            found = _digest_in(self._index.get(_row(state)))
            if found is not None:
                self._keep(state, found)
        return found

    def remember(self, state: State, digest: Digest) -> None:
        """Note what was read, unless the file changed so lately that it may change again unseen."""
        if not state.is_settled:
            return
        self._keep(state, digest)
        if self._index is not None:
            self._index.put(_row(state), {"sha256": digest.hex})

    def _keep(self, state: State, digest: Digest) -> None:
        with self._lock:
            self._recent[state] = digest
            self._recent.move_to_end(state)
            while len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)


def _row(state: State) -> str:
    return f"state:{state.device}:{state.inode}:{state.size}:{state.mtime_ns}"


def _digest_in(plain: object) -> Digest | None:
    match plain:
        case {"sha256": str(text)}:
            try:
                return Digest(text)
            except ValueError:
                return None
    return None
